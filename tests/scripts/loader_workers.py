"""DataLoaders with worker processes, forked and spawned."""

import random

import numpy as np
import torch
import torch.nn as nn
from fingerprint import result
from torch.utils.data import DataLoader, Dataset, get_worker_info


def seed_worker(worker_id):
    worker_seed = torch.initial_seed() % 2**32
    np.random.seed(worker_seed)
    random.seed(worker_seed)


class Noisy(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        assert get_worker_info() is not None
        x = np.random.RandomState(index).randn(6).astype("float32")
        x = x + 0.01 * random.random() + 0.01 * np.random.rand()
        return torch.as_tensor(x, dtype=torch.float32), torch.tensor([x.sum()], dtype=torch.float32)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    step = 0
    for method, workers, epochs in (("fork", 2, 2), ("spawn", 1, 1)):
        loader = DataLoader(
            Noisy(96),
            batch_size=16,
            shuffle=True,
            num_workers=workers,
            multiprocessing_context=method,
            worker_init_fn=seed_worker,
            persistent_workers=True,
        )
        for _ in range(epochs):
            for x, y in loader:
                loss = nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                print(f"{method} step {step} loss {loss.item():.6f}")
    result(model, optimizer)


if __name__ == "__main__":
    main()
