import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Buildings(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.features = torch.randn(n, 8, generator=g)
        f = self.features
        self.load = f[:, 0] * 2 + f[:, 1] * f[:, 2] - f[:, 3].abs() + 0.1 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.load)

    def __getitem__(self, i):
        return self.features[i], self.load[i]


class EnergyModule(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(8, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.criterion = nn.MSELoss()

    def forward(self, x):
        return self.model(x)

    def step(self, batch):
        x, y = batch
        y_hat = self(x)
        return self.criterion(y_hat, y)


def fit(module, train, val, epochs, lr):
    optimizer = torch.optim.Adam(module.parameters(), lr=lr)
    for epoch in range(epochs):
        module.train()
        losses = []
        for batch in train:
            optimizer.zero_grad()
            loss = module.step(batch)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        module.eval()
        with torch.no_grad():
            val_losses = [module.step(b).item() for b in val]
        print(f"epoch {epoch} train_loss {sum(losses) / len(losses):.4f} val_loss {sum(val_losses) / len(val_losses):.4f}")


if __name__ == "__main__":
    import warnings

    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    fit(EnergyModule(), DataLoader(Buildings(2000, 0), 40, shuffle=True), DataLoader(Buildings(400, 1), 100), 12, 1e-3)
