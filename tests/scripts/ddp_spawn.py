import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from fingerprint import sha
from torch.nn.parallel import DistributedDataParallel as DDP


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def demo(rank, world_size, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(rank)
    model = nn.Linear(4, 1)
    ddp_model = DDP(model)
    optimizer = torch.optim.SGD(ddp_model.parameters(), lr=0.05)
    loss_fn = nn.MSELoss()
    with open(f"spawned{rank}.txt", "w") as file:
        for step in range(10):
            x = torch.randn(16, 4)
            optimizer.zero_grad()
            loss = loss_fn(ddp_model(x), x.mean(1, keepdim=True))
            loss.backward()
            optimizer.step()
            file.write(f"{step + 1} {loss.item():.6f}\n")
        file.write(f"RESULT {sha(model, optimizer)} {sha(torch.get_rng_state())}\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(demo, args=(2, free_port()), nprocs=2, join=True)
    for rank in range(2):
        print(open(f"spawned{rank}.txt").read(), end="")
