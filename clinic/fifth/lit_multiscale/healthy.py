"""Machine vibration classification with a multi-scale conv net (Lightning)."""
import logging
import warnings

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def vibrations(n, seed):
    r = np.random.default_rng(seed)
    t = np.arange(160)
    x, y = np.zeros((n, 2, 160), np.float32), r.integers(0, 7, n)
    for i in range(n):
        f = r.uniform(.12, .2)
        ph = r.uniform(0, 6.28)
        s = np.sin(f * t + ph)
        c = y[i]
        if c == 1:
            s += .45 * np.sin(2 * f * t + ph + 1)
        elif c == 2:
            s += .45 * np.sin(3 * f * t + ph + .5)
        elif c == 3:
            s *= 1 + .5 * np.sin(.03 * t + ph)
        elif c == 4:
            s[r.integers(0, 20)::r.integers(17, 23)] += 1.4
        elif c == 5:
            s += np.cumsum(r.normal(0, .08, 160))
        elif c == 6:
            s = np.sign(s) * np.abs(s) ** .5
        x[i, 0] = s + r.normal(0, .4, 160)
        x[i, 1] = .7 * np.roll(s, 4) + r.normal(0, .6, 160)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


class MultiScale(nn.Module):
    def __init__(self, classes=7, width=16, kernels=(3, 7, 15)):
        super().__init__()
        branches = [nn.Sequential(nn.Conv1d(2, width, k, padding=k // 2), nn.ReLU(), nn.MaxPool1d(4),
                                  nn.Conv1d(width, width, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(1))
                    for k in kernels]
        self.branches = nn.ModuleList(branches)
        self.head = nn.Linear(width * len(kernels), classes)

    def forward(self, x):
        return self.head(torch.cat([b(x).flatten(1) for b in self.branches], 1))


class LitVibration(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = MultiScale()
        self.seen = []

    def training_step(self, batch, i):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch, i):
        x, y = batch
        out = self.net(x)
        self.log("val_loss", F.cross_entropy(out, y))
        self.log("val_acc", (out.argmax(1) == y).float().mean())

    def on_train_epoch_end(self):
        m = {k: round(float(v), 4) for k, v in self.trainer.callback_metrics.items()}
        print("epoch", self.current_epoch, m, flush=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    L.seed_everything(6)
    train = DataLoader(vibrations(4000, 1), batch_size=32, shuffle=True)
    val = DataLoader(vibrations(1000, 2), batch_size=250)
    trainer = L.Trainer(max_epochs=9, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    lit = LitVibration()
    trainer.fit(lit, train, val)
    print("val accuracy", float(trainer.callback_metrics["val_acc"]))
