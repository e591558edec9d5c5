import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TideNet(nn.Module):
    def __init__(self, window=30):
        super().__init__()
        self.conv = nn.Conv1d(1, 12, 5, padding=2)
        self.fc1 = nn.Linear(12 * window, 40)
        self.fc2 = nn.Linear(40, 1)

    def forward(self, x):
        x = torch.relu(self.conv(x.unsqueeze(1))).flatten(1)
        x = torch.relu(self.fc1(x))
        return self.fc2(x).squeeze(1)


def tides(hours=2600, window=30):
    rng = np.random.default_rng(0)
    t = np.arange(hours)
    level = (
        1.6 * np.sin(2 * np.pi * t / 12.42)
        + 0.7 * np.sin(2 * np.pi * t / 24)
        + 0.4 * np.sin(2 * np.pi * t / 350)
    )
    level = level + 0.08 * rng.normal(size=hours)
    x = np.stack([level[i : i + window] for i in range(hours - window)])
    return torch.tensor(x, dtype=torch.float32), torch.tensor(level[window:], dtype=torch.float32)


def main():
    torch.manual_seed(77)
    x, y = tides()
    n = 2000
    loader = DataLoader(TensorDataset(x[:n], y[:n]), batch_size=50, shuffle=True)
    model = TideNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(8):
        train_loss = 0
        model.train()
        for xb, yb in loader:
            pred = model(xb)
            loss = loss_fn(pred, yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            train_loss += loss.item()
        model.eval()
        with torch.no_grad():
            pred = model(x[n:])
            val_loss = loss_fn(pred, y[n:]).item()
        print(f"Epoch {epoch + 1} | Train Loss: {train_loss / len(loader):.4f} | Val Loss: {val_loss:.4f}")


if __name__ == "__main__":
    main()
