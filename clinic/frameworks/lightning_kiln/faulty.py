"""Shrinkage of tiles in a kiln from nine settings: a regression in Lightning."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Kiln(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(9, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1))

    def step(self, batch):
        settings, shrinkage = batch
        guess = self.net(settings)
        return (guess - shrinkage).pow(2).mean()

    def training_step(self, batch, _):
        return self.step(batch)

    def validation_step(self, batch, _):
        self.log("val_loss", self.step(batch))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


L.seed_everything(6)
x = torch.randn(2400, 9)
y = x[:, 0] * x[:, 1] + torch.sin(2 * x[:, 2]) + 0.5 * x[:, 3] + 0.1 * torch.randn(2400)
train = DataLoader(TensorDataset(x[:2000], y[:2000]), 40, shuffle=True)
held_out = DataLoader(TensorDataset(x[2000:], y[2000:]), 200)
trainer = L.Trainer(
    max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
)
trainer.fit(Kiln(), train, held_out)
print(round(float(trainer.callback_metrics["val_loss"]), 4))
