"""torchrun --nproc-per-node 2 ddp_torchrun.py"""

import os

import torch
import torch.distributed as dist
import torch.nn as nn
from fingerprint import sha
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    x = torch.randn(256, 10)
    y = (x @ torch.randn(10, 3)).argmax(1)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, shuffle=True, seed=7)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    model = DDP(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    lines = []
    step = 0
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            loss.backward()
            optimizer.step()
            step += 1
            lines.append(f"rank {rank} step {step} loss {loss.item():.6f}")
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print(f"epoch {epoch} mean loss {mean.item() / world:.6f}", flush=True)
    with open(f"rank{os.environ['RANK']}.txt", "w") as file:
        file.write("\n".join(lines) + "\n")
        file.write(f"RESULT {sha(model.module, optimizer)} {sha(torch.get_rng_state())}\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
