"""Training with torch.func: parameters in a dict, gradients by transformation, no optimizer."""

import torch
import torch.nn as nn
from fingerprint import result
from torch.func import functional_call, grad_and_value, vmap

torch.manual_seed(0)
torch.set_num_threads(1)

net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
params = {name: p.detach().clone() for name, p in net.named_parameters()}


def compute_loss(params, x, y):
    return nn.functional.mse_loss(functional_call(net, params, (x,)), y)


def sample_loss(params, x, y):
    return compute_loss(params, x.unsqueeze(0), y.unsqueeze(0))


per_sample = vmap(torch.func.grad(sample_loss), in_dims=(None, 0, 0))
for step in range(25):
    x = torch.randn(32, 3)
    y = x.prod(1, keepdim=True)
    grads, loss = grad_and_value(compute_loss)(params, x, y)
    params = {name: params[name] - 0.05 * grads[name] for name in params}
    print(f"step {step} loss {loss.item():.6f}")

norms = sum(g.flatten(1).square().sum(1) for g in per_sample(params, x, y).values()).sqrt()
print(f"largest gradient of one sample {norms.max().item():.6f}")
result(params)
