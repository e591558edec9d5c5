import warnings; warnings.filterwarnings("ignore")
import numpy as np, torch, lightning as pl
from torch import nn
from torch.nn import functional as F

# molecules as bags of fragments -> log toxicity; interactions between fragments matter


class Molecules(pl.LightningDataModule):
    def setup(self, stage=None):
        rng = np.random.default_rng(12)
        n, k = 9000, 40
        x = rng.poisson(rng.gamma(.5, 1, k), (n, k)).astype("f4")
        w = rng.normal(0, .3, k)
        pairs = rng.integers(0, k, (30, 2))
        pw = rng.normal(0, .6, 30)
        z = x @ w + (np.minimum(x[:, pairs[:, 0]], x[:, pairs[:, 1]]) * pw).sum(1)
        y = np.tanh(.5 * (z - z.mean()) / z.std()) * 3 + rng.normal(0, .3, n)
        x = np.log1p(x)
        x, y = torch.tensor(x), torch.tensor(y, dtype=torch.float32)
        self.tr = torch.utils.data.TensorDataset(x[:7500], y[:7500])
        self.va = torch.utils.data.TensorDataset(x[7500:], y[7500:])

    def train_dataloader(self):
        return torch.utils.data.DataLoader(self.tr, batch_size=32, shuffle=True)

    def val_dataloader(self):
        return torch.utils.data.DataLoader(self.va, batch_size=500)


class Regressor(pl.LightningModule):
    def __init__(self, lr=1e-3, weight_decay=1e-5):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(40, 160), nn.ReLU(), nn.Linear(160, 160), nn.ReLU(), nn.Linear(160, 1))

    def step(self, batch):
        x, y = batch
        return F.mse_loss(self.net(x).squeeze(1), y)

    def training_step(self, batch, _):
        loss = self.step(batch)
        self.log("train_mse", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val_mse", self.step(batch))

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), lr=self.hparams.lr, weight_decay=self.hparams.weight_decay)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, 14)}


class Show(pl.Callback):
    def on_train_epoch_end(self, trainer, module):
        m = trainer.callback_metrics
        print(f"| {trainer.current_epoch:3d} | {m['train_mse']:.4f} | {m['val_mse']:.4f} |")


pl.seed_everything(12, verbose=False)
print("| ep | train | val |")
trainer = pl.Trainer(max_epochs=14, accelerator="cpu", devices=1, callbacks=[Show()], logger=False,
                     enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Regressor(), datamodule=Molecules())
print("final val MSE: %.4f" % trainer.callback_metrics["val_mse"].item())
