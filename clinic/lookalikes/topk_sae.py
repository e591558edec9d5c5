import torch
import torch.nn as nn

torch.manual_seed(0)
D, N_LATENT, K = 32, 256, 8


class TopKSAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre_bias = nn.Parameter(torch.zeros(D))
        self.encoder = nn.Linear(D, N_LATENT)
        self.decoder = nn.Linear(N_LATENT, D, bias=False)
        self.decoder.weight.data = self.encoder.weight.data.T.clone()

    def forward(self, x):
        pre = self.encoder(x - self.pre_bias)
        top = torch.topk(pre, K, dim=-1)
        z = torch.zeros_like(pre).scatter_(-1, top.indices, torch.relu(top.values))
        return self.decoder(z) + self.pre_bias, z


dictionary = nn.functional.normalize(torch.randn(100, D), dim=1)


def activations(n):
    code = (torch.rand(n, 100) < 0.04).float() * torch.rand(n, 100)
    return code @ dictionary + 0.01 * torch.randn(n, D)


sae = TopKSAE()
opt = torch.optim.Adam(sae.parameters(), lr=1e-3)
held_out = activations(1000)
for step in range(800):
    x = activations(256)
    recon, z = sae(x)
    loss = (recon - x).pow(2).sum(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        with torch.no_grad():
            v = (sae(held_out)[0] - held_out).pow(2).sum(-1).mean()
        print(f"step {step:4d} loss {loss.item():.5f} val_loss {v.item():.5f} l0 {(z > 0).float().sum(1).mean():.1f}")
