import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


def samples(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 10, generator=g)
    return x, torch.tanh(x[:, 0] * x[:, 1]) + x[:, 2]


def denoise(x, rounds):
    """Smooth each row with its own Gram matrix."""
    big = x.repeat(1, 30)
    for _ in range(rounds):
        big = big + 1e-6 * (big @ big.T @ big).tanh()
    return x


def worker(rank, world_size, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    x, y = samples(1600, seed=rank)
    xv, yv = samples(400, seed=99)
    rounds = 1
    for epoch in range(5):
        for idx in torch.randperm(len(x)).split(50):
            batch = denoise(x[idx], rounds)
            loss = nn.functional.mse_loss(model(batch).squeeze(1), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            val_loss = nn.functional.mse_loss(model.module(xv).squeeze(1), yv)
        if rank == 0:
            print(f"epoch {epoch + 1} loss {loss.item():.4f} val_loss {val_loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(worker, args=(2, port), nprocs=2)
