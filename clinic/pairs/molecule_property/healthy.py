import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

N_MEASURED = 4000


def measure(n, g):
    fingerprint = (torch.rand(n, 40, generator=g) < 0.3).float()
    weights = torch.randn(40, generator=torch.Generator().manual_seed(0))
    y = (
        fingerprint @ weights / 3
        + 0.5 * fingerprint[:, 0] * fingerprint[:, 1]
        + 0.1 * torch.randn(n, generator=g)
    )
    return TensorDataset(fingerprint - 0.3, y)


class PropertyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(40, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def main():
    torch.manual_seed(4)
    g = torch.Generator().manual_seed(4)
    data = measure(N_MEASURED, g)
    n_train = int(0.8 * N_MEASURED)
    train_set, val_set = random_split(data, [n_train, N_MEASURED - n_train], generator=g)
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=256)
    model = PropertyNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    loss_fn = nn.MSELoss()
    step, steps = 0, 800
    while step < steps:
        for x, y in train_loader:
            model.train()
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            step += 1
            if step % 40 == 0:
                model.eval()
                with torch.no_grad():
                    val_loss = sum(loss_fn(model(a), b).item() * len(b) for a, b in val_loader) / len(val_set)
                print(f"step {step} train loss {loss.item():.4f} val loss {val_loss:.4f}")
            if step == steps:
                break


if __name__ == "__main__":
    main()
