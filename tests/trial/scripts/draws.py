"""A training that draws random numbers in every way, and tells them."""

from __future__ import annotations

import json
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

DRAWN = {
    "random": random.random(),
    "random_own": random.Random().random(),
    "numpy": np.random.rand(),
    "rng": np.random.default_rng().random(),
    "state": np.random.RandomState().rand(),
    "torch": torch.rand(1).item(),
    "rng_seeded": np.random.default_rng(5).random(),
    "rng_list": np.random.default_rng([1, 2]).random(),
    "state_seeded": np.random.RandomState(seed=5).rand(),
    "bits_seeded": np.random.Generator(np.random.PCG64(5)).random(),
    "sequence_seeded": np.random.default_rng(np.random.SeedSequence(5)).random(),
    "generator": torch.rand(1, generator=torch.Generator()).item(),
    "generator_seeded": torch.rand(1, generator=torch.Generator().manual_seed(5)).item(),
}
random.seed(4)
DRAWN["random_seeded"] = random.random()
np.random.seed(5)
DRAWN["numpy_seeded"] = np.random.permutation(50).tolist()
torch.manual_seed(0)
DRAWN["torch_seeded"] = torch.rand(1).item()
assert isinstance(np.random.RandomState(1), np.random.RandomState)
assert isinstance(torch.default_generator, torch.Generator)


def noise(_):
    return [np.random.rand(), random.random(), torch.rand(1).item()]


DATA = TensorDataset(torch.arange(100))
DRAWN["split"] = list(random_split(DATA, [50, 50], generator=torch.Generator().manual_seed(1))[0].indices)
DRAWN["shuffled"] = [int(each) for (batch,) in DataLoader(DATA, 10, shuffle=True) for each in batch]
DRAWN["workers"] = list(DataLoader(DATA, 50, num_workers=2, collate_fn=noise))

if __name__ == "__main__":
    print(json.dumps(DRAWN))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(30):
        x = torch.randn(8, 4)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
