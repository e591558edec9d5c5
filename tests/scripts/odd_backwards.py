"""Every other way to call backward: of a vector, of a list, twice, retained, inside a function."""

import torch
import torch.nn as nn
from fingerprint import result
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

torch.manual_seed(0)
torch.set_num_threads(1)
body = nn.Sequential(weight_norm(nn.Linear(6, 16)), nn.PReLU(), spectral_norm(nn.Linear(16, 8)))
left, right = nn.Linear(8, 1), nn.Linear(8, 1)
model = nn.ModuleList([body, left, right])
opt = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(20):
    x = torch.randn(16, 6)
    h = body(x)
    a = (left(h).squeeze(1) - x[:, 0]).square()
    b = (right(h).squeeze(1) - x[:, 1]).square()
    opt.zero_grad()
    way = step % 4
    if way == 0:
        a.backward(gradient=torch.full((16,), 1 / 16), retain_graph=True)
        b.mean().backward()
    elif way == 1:
        torch.autograd.backward([a.mean(), b.mean()])
    elif way == 2:
        (a + b).backward(torch.ones(16) / 16)
    else:
        total = a.mean() + b.mean()
        total.backward(retain_graph=True, inputs=list(model.parameters()))
    opt.step()
    print(f"step {step + 1} {['two', 'list', 'vector', 'inputs'][way]} {(a.mean() + b.mean()).item():.6f}")
result(model, opt)
