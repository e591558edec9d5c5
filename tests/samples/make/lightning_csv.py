"""`metrics.csv` and `hparams.yaml` by Lightning's CSVLogger: sparse rows, a learning-rate monitor, NaN."""

from __future__ import annotations

import json
import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import LearningRateMonitor
from lightning.pytorch.loggers import CSVLogger
from record_version import record, shown


class Line(lightning.LightningModule):
    """A line fitted to points; its training loss is logged as NaN from a given step on."""

    def __init__(self, lr: float, nan_from: int, **others: object) -> None:  # noqa: ARG002
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(1, 1)
        self.nan_from = nan_from

    def training_step(self, batch: list[torch.Tensor]) -> torch.Tensor:
        loss = torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
        told = loss.detach() if self.global_step < self.nan_from else torch.tensor(float("nan"))
        self.log("train_loss", told, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch: list[torch.Tensor]) -> None:
        self.log("val_loss", torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1]))

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]


class Witness(CSVLogger):
    """The logger, which also keeps what it was told."""

    series: dict[str, list[list[object]]]

    def log_metrics(self, metrics: dict[str, Any], step: int | None = None) -> None:
        for name, value in metrics.items():
            points = self.series.setdefault(name, [])
            if [step, shown(float(value))] not in points[-1:]:
                points.append([step, shown(float(value))])
        super().log_metrics(metrics, step)


def write(out: Path) -> None:
    """Write the sample and its truth below `out`."""
    shutil.rmtree(out, ignore_errors=True)
    lightning.seed_everything(0)
    logger = Witness(str(out), name="lightning_logs", flush_logs_every_n_steps=1)
    logger.series = {}
    x = torch.linspace(-1, 1, 32)[:, None]
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, 3 * x + 1), batch_size=4)
    model = Line(lr=0.1, nan_from=20, sizes=(1, 1), extra=Namespace(note="a, b", warm=None))
    trainer = lightning.Trainer(
        max_epochs=3,
        logger=logger,
        callbacks=[LearningRateMonitor("epoch")],
        log_every_n_steps=2,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    trainer.fit(model, data, data)
    truth = {"lightning_logs/version_0": {"series": logger.series, "config": {"lr": 0.1, "nan_from": 20}}}
    (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    record("lightning", lightning.__version__)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
