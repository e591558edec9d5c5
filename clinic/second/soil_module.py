"""Soil types from spectra, written in the manner of Lightning."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class LitSoil(nn.Module):
    def __init__(self, n_bands=32, n_types=6, learning_rate=2e-6):
        super().__init__()
        self.learning_rate = learning_rate
        self.net = nn.Sequential(nn.Linear(n_bands, 64), nn.ReLU(), nn.Linear(64, n_types))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y)

    def validation_step(self, batch):
        x, y = batch
        out = self(x)
        return F.cross_entropy(out, y), (out.argmax(1) == y).float().mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.learning_rate)


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def fit(self, module, train_loader, val_loader):
        optimizer = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            module.train()
            for i, batch in enumerate(train_loader):
                optimizer.zero_grad()
                loss = module.training_step(batch, i)
                loss.backward()
                optimizer.step()
            module.eval()
            with torch.no_grad():
                results = [module.validation_step(b) for b in val_loader]
            vl = sum(r[0].item() for r in results) / len(results)
            va = sum(r[1].item() for r in results) / len(results)
            print(f"Epoch {epoch}: train_loss={loss.item():.3f}, val_loss={vl:.3f}, val_acc={va:.3f}")


def spectra(n, seed):
    g = torch.Generator().manual_seed(seed)
    base = torch.randn(6, 32, generator=torch.Generator().manual_seed(100))
    y = torch.randint(0, 6, (n,), generator=g)
    return TensorDataset(base[y] + 0.6 * torch.randn(n, 32, generator=g), y)


if __name__ == "__main__":
    torch.manual_seed(1)
    Trainer(max_epochs=10).fit(
        LitSoil(), DataLoader(spectra(2000, 0), 64, shuffle=True), DataLoader(spectra(400, 1), 200)
    )
