import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


def data(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 8, generator=g)
    return TensorDataset(x, torch.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * torch.randn(n, generator=g))


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(100 + rank)
    train_set = data(4000, 0)
    sampler = DistributedSampler(train_set, shuffle=True)
    loader = DataLoader(train_set, batch_size=40, sampler=sampler)
    xv, yv = data(500, 1).tensors
    net = Net()
    model = DDP(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(6):
        sampler.set_epoch(epoch)
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            val_loss = loss_fn(net(xv), yv).item()
        if rank == 0:
            print(f"epoch {epoch + 1} loss {total / len(loader):.4f} val_loss {val_loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
