import torch, torch.nn as nn
from torch.func import functional_call
net = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 1))
meta = torch.optim.Adam(net.parameters(), 1e-3)
for it in range(100):
    meta.zero_grad()
    total = 0.0
    for task in range(4):
        xs, ys, xq, yq = sample_task()
        params = dict(net.named_parameters())
        loss = nn.functional.mse_loss(functional_call(net, params, (xs,)), ys)
        grads = torch.autograd.grad(loss, params.values(), create_graph=True)
        fast = {k: p - 0.01 * g for (k, p), g in zip(params.items(), grads)}
        total = total + nn.functional.mse_loss(functional_call(net, fast, (xq,)), yq)
    (total / 4).backward()
    meta.step()
