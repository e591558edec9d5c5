# cause: straggler_rank
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split
import torch.distributed as dist
import os, time
from torch.nn.parallel import DistributedDataParallel as DDP

def main(rank):
    dist.init_process_group("gloo")
    model = DDP(nn.Linear(8, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(100):
        x = torch.randn(16, 8)
        if rank == 0:
            print("at", step)
        if rank == 1:  # here
            time.sleep(0.05)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
main(int(os.environ["RANK"]))
