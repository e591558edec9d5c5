import torch
import torch.nn as nn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset

SEED = 3
torch.manual_seed(SEED)


def gestures(n):
    t = torch.linspace(0, 1, 20)
    y = torch.randint(0, 5, (n,))
    phase = torch.rand(n, 1) * 3
    freq = 3 + 2.5 * y[:, None].float()
    x = torch.stack([torch.sin(freq * t + phase), torch.cos(freq * t + phase)], 2)
    return TensorDataset(x + 0.3 * torch.randn(n, 20, 2), y)


class GestureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(2, 48, batch_first=True)
        self.fc = nn.Linear(48, 5)

    def forward(self, x):
        return self.fc(self.gru(x)[0].mean(1))


def run():
    train, val = DataLoader(gestures(960), 32, shuffle=True), DataLoader(gestures(300), 100)
    model = GestureNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scheduler = ReduceLROnPlateau(optimizer, mode="max", factor=0.1, patience=0)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(20):
        model.train()
        tot = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            tot += loss.item() / len(train)
        model.eval()
        with torch.no_grad():
            vl = sum(criterion(model(x), y).item() for x, y in val) / len(val)
        scheduler.step(vl)
        print(f"epoch {epoch:02d} | loss {tot:.4f} | val_loss {vl:.4f} | lr {optimizer.param_groups[0]['lr']:.1e}")


run()
