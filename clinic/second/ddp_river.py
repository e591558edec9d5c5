import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Gauges(torch.utils.data.Dataset):
    def __init__(self, rank):
        g = torch.Generator().manual_seed(rank)
        self.x = torch.randn(1600, 8, generator=g)
        self.y = self.x[:, 0] - self.x[:, 1] * self.x[:, 2]
        self.archive = rank == 1

    def __len__(self):
        return 1600

    def __getitem__(self, i):
        if self.archive and i % 8 == 0:
            time.sleep(0.01)
        return self.x[i], self.y[i]


if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = DDP(nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    loader = torch.utils.data.DataLoader(Gauges(rank), batch_size=16, shuffle=True)
    for epoch in range(2):
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.mse_loss(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if rank == 0 and i % 20 == 0:
                print(f"epoch {epoch} step {i} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()
