"""An autoencoder whose decoder shares the encoder's weight, and one layer used three times."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from fingerprint import result


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(20, 20)
        self.encoder = nn.Linear(20, 6)
        self.decoder = nn.Linear(6, 20)
        self.decoder.weight = nn.Parameter(self.encoder.weight.t().contiguous())
        self.again = self.inner
        self.out_bias = self.decoder.bias

    def forward(self, x):
        for _ in range(2):
            x = torch.relu(self.inner(x))
        x = self.again(x)
        code = torch.sigmoid(self.encoder(x))
        return F.linear(code, self.encoder.weight.t(), self.out_bias) + 0 * self.decoder.weight.sum()


torch.manual_seed(0)
torch.set_num_threads(1)
model = Tied()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
basis = torch.randn(3, 20)
for step in range(1, 26):
    x = torch.randn(40, 3) @ basis
    loss = F.mse_loss(model(x), x)
    opt.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
    opt.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.6f} norm {norm.item():.6f}")
result(model, opt)
