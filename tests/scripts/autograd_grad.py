# gradients by torch.autograd.grad, weights updated by hand
import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 2))
params = list(model.parameters())
lr = 0.1
for it in range(30):
    x = torch.randn(24, 5)
    y = (x[:, 0] > x[:, 1]).long()
    loss = nn.functional.cross_entropy(model(x), y)
    grads = torch.autograd.grad(loss, params)
    with torch.no_grad():
        for p, g in zip(params, grads, strict=True):
            p -= lr * g
    if it % 5 == 0:
        print("it", it, "loss", round(loss.item(), 6))
result(model)
