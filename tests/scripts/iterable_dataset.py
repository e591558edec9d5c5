import itertools

import torch
import torch.nn as nn
from fingerprint import result
from torch.utils.data import DataLoader, IterableDataset

torch.manual_seed(0)
torch.set_num_threads(1)


class Stream(IterableDataset):
    """Endless samples, as dictionaries."""

    def __iter__(self):
        while True:
            x = torch.randn(5)
            yield {"features": x, "meta": {"target": x.max().unsqueeze(0)}, "name": "sample"}


def collate(samples):
    return {
        "features": torch.stack([s["features"] for s in samples]),
        "meta": {"target": torch.stack([s["meta"]["target"] for s in samples])},
        "names": [s["name"] for s in samples],
    }


model = nn.Sequential(nn.Linear(5, 32), nn.Hardswish(), nn.Linear(32, 1))
criterion = nn.HuberLoss(delta=0.5)
optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)
loader = DataLoader(Stream(), batch_size=32, collate_fn=collate)
for step, batch in enumerate(itertools.islice(loader, 25), start=1):
    loss = criterion(model(batch["features"]), batch["meta"]["target"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print({"step": step, "loss": round(loss.item(), 6)})
result(model, optimizer)
