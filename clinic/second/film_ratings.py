import torch
from torch import nn


class Towers(nn.Module):
    def __init__(self, users, films, k=12, depth=2):
        super().__init__()
        self.u = nn.Embedding(users, k)
        self.f = nn.Embedding(films, k)
        self.mix = {f"layer{i}": nn.Linear(2 * k, 2 * k) for i in range(depth)}
        self.out = nn.Linear(2 * k, 1)

    def forward(self, u, f):
        h = torch.cat([self.u(u), self.f(f)], 1)
        for layer in self.mix.values():
            h = torch.relu(layer(h))
        return self.out(h).squeeze(1)


torch.manual_seed(0)
U, F_ = 200, 100
bias_u, bias_f = torch.randn(U) * 0.5, torch.randn(F_) * 0.5
u, f = torch.randint(0, U, (8000,)), torch.randint(0, F_, (8000,))
r = (bias_u[u] + bias_f[f] + 0.2 * torch.randn(8000))
model = Towers(U, F_)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for b in torch.randperm(7000).split(100):
        loss = nn.functional.mse_loss(model(u[b], f[b]), r[b])
        opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        v = nn.functional.mse_loss(model(u[7000:], f[7000:]), r[7000:])
    print(f"epoch {epoch} rating loss {loss.item():.4f} val_loss {v.item():.4f}")
