"""A small classifier whose samples are unpacked and parsed one by one, in the training process."""

# mypy: ignore-errors

import gzip
import json

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Packed(Dataset):
    """Every sample is a gzipped JSON document, as some exports are."""

    def __init__(self, count):
        self.labels = torch.randint(0, 4, (count,)).tolist()
        self.packed = []
        for label in self.labels:
            values = (torch.randn(512) + label * torch.linspace(-1, 1, 512)).tolist()
            self.packed.append(gzip.compress(json.dumps(values).encode()))

    def __len__(self):
        return len(self.packed)

    def __getitem__(self, i):
        values = json.loads(gzip.decompress(self.packed[i]))
        return torch.tensor(values), self.labels[i]


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Packed(1000), batch_size=50, shuffle=True)
    model = nn.Sequential(nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(4):
        for samples, labels in loader:
            loss = nn.functional.cross_entropy(model(samples), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
