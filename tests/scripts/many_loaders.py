"""Loaders in every abuse: zipped, cycled, restarted each step, cut short, with odd batches."""

import itertools
from collections import namedtuple
from dataclasses import dataclass

import torch
import torch.nn as nn
from fingerprint import result
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    RandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

Sample = namedtuple("Sample", "x y note")


@dataclass
class Batch:
    x: torch.Tensor
    y: torch.Tensor
    notes: list

    def pin_memory(self):
        return self


class Records(Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 4)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return Sample(self.x[index], self.x[index].sum().unsqueeze(0), {"none": None, "name": f"row {index}"})


class MyLoader(DataLoader):
    def __iter__(self):
        for batch in super().__iter__():
            yield batch[0], batch[1]


def collate(samples):
    return Batch(
        torch.stack([s.x for s in samples]), torch.stack([s.y for s in samples]), [s.note for s in samples]
    )


torch.manual_seed(0)
torch.set_num_threads(1)
records = Records(40)
plain = TensorDataset(records.x, records.x.sum(1, keepdim=True))
model = nn.DataParallel(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
step = 0


def train(x, y, how):
    global step
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    print(f"step {step} loss {loss.item():.6f} {how}")


for a, b in zip(DataLoader(plain, batch_size=8), MyLoader(plain, batch_size=8, shuffle=True), strict=True):
    train(torch.cat([a[0], b[0]]), torch.cat([a[1], b[1]]), "zipped")
for batch in DataLoader(records, batch_size=10, collate_fn=collate):
    train(batch.x, batch.y, "dataclass")
weights = WeightedRandomSampler([1.0] * 40, 20)
sampler = BatchSampler(RandomSampler(range(40)), batch_size=8, drop_last=False)
for x, y in itertools.islice(itertools.cycle(DataLoader(plain, batch_sampler=sampler)), 7):
    train(x, y, "cycled")
loader = DataLoader(plain, batch_size=5, sampler=weights)
for _ in range(4):
    x, y = next(iter(loader))
    train(x, y, "restarted")
for x, y in DataLoader(plain, batch_size=None, shuffle=True):
    train(x.unsqueeze(0), y.unsqueeze(0), "single")
    if step > 24:
        break
outer = DataLoader(plain, batch_size=20)
for x, y in outer:
    for x2, y2 in DataLoader(TensorDataset(x, y), batch_size=10):
        train(x2, y2, "nested")
result(model, optimizer)
