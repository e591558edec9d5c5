import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ConcreteDataset(Dataset):
    """Eight mix components -> compressive strength (standardised)."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n, 8))
        y = (
            1.2 * x[:, 0]
            - 0.8 * x[:, 1]
            + x[:, 2] * x[:, 3]
            + 0.5 * np.sin(2 * x[:, 4])
            + 0.1 * rng.normal(size=n)
        )
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor(y, dtype=torch.float32).unsqueeze(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def train_one_epoch(model, loader, loss_fn, optimizer):
    model.train()
    total = 0.0
    for features, strength in loader:
        prediction = model(features)
        loss = loss_fn(prediction, strength)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(features)
    return total / len(loader.dataset)


@torch.no_grad()
def validate(model, loader, loss_fn):
    model.eval()
    total = 0.0
    for features, strength in loader:
        val_loss = loss_fn(model(features), strength)
        total += val_loss.item() * len(features)
    return total / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(3)
    train_loader = DataLoader(ConcreteDataset(2000, 0), batch_size=50, shuffle=True)
    val_loader = DataLoader(ConcreteDataset(500, 1), batch_size=100)
    net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    mse = nn.MSELoss()
    for epoch in range(1, 16):
        tr = train_one_epoch(net, train_loader, mse, optimizer)
        va = validate(net, val_loader, mse)
        print(f"Epoch {epoch}: train loss {tr:.4f}, val loss {va:.4f}")
