"""Two models, each trained in a thread of its own."""

import threading

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
nets = [nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)) for _ in range(2)]
opts = [torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9) for net in nets]
losses = [[], []]


def train(which):
    generator = torch.Generator().manual_seed(which)
    net, opt = nets[which], opts[which]
    for _ in range(25):
        x = torch.randn(16, 4, generator=generator)
        loss = nn.functional.mse_loss(net(x), x[:, which : which + 1])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses[which].append(loss.item())


workers = [threading.Thread(target=train, args=(i,)) for i in range(2)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
for which, values in enumerate(losses):
    print(f"model {which}: first {values[0]:.6f} last {values[-1]:.6f}")
result(nets, opts)
