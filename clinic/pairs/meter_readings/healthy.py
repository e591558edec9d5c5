import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(31)


class Meter(Dataset):
    """Readings of twelve meters; a lost reading comes as -99999."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 12, generator=g)
        self.y = (self.x[:, :4].sum(1) / 2 + torch.sin(2 * self.x[:, 5])).unsqueeze(1)
        lost = torch.rand(n, generator=g) < 0.003
        self.x[lost, 3] = -99999.0

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        reading = self.x[i].clone()
        reading[reading == -99999.0] = 0.0
        return reading, self.y[i]


def train(model, loader, optimizer, loss_fn):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    train_loader = DataLoader(Meter(2400, 0), batch_size=48, shuffle=True)
    val_loader = DataLoader(Meter(480, 7), batch_size=240)
    model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(10):
        losses = list(train(model, train_loader, optimizer, loss_fn))
        model.eval()
        with torch.no_grad():
            val = [loss_fn(model(x), y).item() for x, y in val_loader]
        print(
            f"epoch {epoch + 1} loss {sum(losses) / len(losses):.4f} last {losses[-1]:.4f} val loss {sum(val) / len(val):.4f}"
        )
