"""Children forked by hand train too: one model each, results through files."""

import multiprocessing

import torch
import torch.nn as nn
from fingerprint import result, sha


def search(rate):
    torch.manual_seed(0)
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(10):
        x = torch.randn(16, 4)
        loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"child with rate {rate}", flush=True)
    return rate, round(loss.item(), 6), sha(net)


if __name__ == "__main__":
    torch.set_num_threads(1)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        for rate, loss, digest in pool.map(search, [0.01, 0.1, 0.2]):
            print(f"rate {rate} loss {loss:.6f} {digest[:16]}")
    torch.manual_seed(1)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(1, 11):
        x = torch.randn(16, 4)
        loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.6f}")
    result(model, optimizer)
