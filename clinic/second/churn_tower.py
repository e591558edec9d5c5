import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ChurnModel(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(dim, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
        self.score = nn.Linear(24, 1)
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        return self.sigmoid(self.score(self.tower(x))).squeeze(-1)


class Experiment:
    def __init__(self, **hp):
        self.hp = hp
        torch.manual_seed(hp["seed"])
        x = torch.randn(4000, 14)
        y = (x[:, 0] + x[:, 1] - x[:, 2] * x[:, 3] > 0).float()
        self.train_loader = DataLoader(TensorDataset(x[:3200], y[:3200]), batch_size=hp["batch"], shuffle=True)
        self.val = x[3200:], y[3200:]
        self.model = ChurnModel(14)
        self.loss = nn.BCEWithLogitsLoss()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=hp["lr"], momentum=0.9)

    def epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            loss = self.loss(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        x, y = self.val
        out = self.model(x)
        return self.loss(out, y).item(), ((out > 0.5).float() == y).float().mean().item()

    def run(self):
        for e in range(self.hp["epochs"]):
            train_loss = self.epoch()
            val_loss, val_acc = self.evaluate()
            print(f"epoch={e} train_loss={train_loss:.4f} val_loss={val_loss:.4f} val_acc={val_acc:.4f}")


Experiment(seed=0, batch=64, lr=0.05, epochs=10).run()
