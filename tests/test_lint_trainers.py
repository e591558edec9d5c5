"""Faults in the methods that a trainer calls: its loop is followed as one that the script has written."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.evidence.lint import lint

MODULE = """\
import lightning as L
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Data(L.LightningDataModule):
    def setup(self, stage=None):
        x, y = torch.randn(400, 16), torch.randint(0, 3, (400,))
        self.train, self.val = TensorDataset(x[:300], y[:300]), TensorDataset(x[300:], y[300:])

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=32, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=64)


class Net(L.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        return self.head(self.body(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self(x), y))

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        return opt


trainer = L.Trainer(max_epochs=20)
trainer.fit(Net(), datamodule=Data())
"""
COSINE = "sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=20)\n        return "
OPENED = "        self.save_hyperparameters()\n"
MANUAL = OPENED + "        self.automatic_optimization = False\n"
BY_HAND = "self.manual_backward(F.cross_entropy(self(x), y))\n        "


def findings(folder: Path, *edits: tuple[str, str]) -> set[str]:
    text = MODULE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (folder / "train.py").write_text(text)
    return {one.id for one in lint(folder / "train.py").findings}


@pytest.mark.parametrize(
    ("finding", "edits"),
    [
        ("script_double_activation", [("self.head(self.body(x))", "self.head(self.body(x)).softmax(-1)")]),
        ("script_loss_detached", [("return loss", "return loss.item()")]),
        ("script_backward_missing", [("return loss", 'self.log("loss", loss)')]),
        ("script_parameters_left_out", [("self.parameters()", "self.head.parameters()")]),
        ("script_same_split", [("DataLoader(self.val", "DataLoader(self.train")]),
        ("script_scheduler_idle", [("return opt", COSINE + "opt")]),
        (
            "script_scheduler_pace",
            [
                (
                    "return opt",
                    COSINE + '{"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "step"}}',
                )
            ],
        ),
        (
            "script_zero_grad_missing",
            [(OPENED, MANUAL), ("return loss", f"{BY_HAND}self.optimizers().step()")],
        ),
        (
            "script_step_missing",
            [(OPENED, MANUAL), ("return loss", f"self.optimizers().zero_grad()\n        {BY_HAND}")],
        ),
    ],
)
def test_a_fault_is_found(finding: str, edits: list[tuple[str, str]], tmp_path: Path) -> None:
    assert findings(tmp_path, *edits) == {finding}


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [("return opt", COSINE + "[opt], [sched]")],
        [("return loss", 'return {"loss": loss}')],
        [("return loss", "return loss if batch_idx else None")],
        [
            (OPENED, MANUAL),
            (
                "return loss",
                f"self.optimizers().zero_grad()\n        {BY_HAND}self.optimizers().step()",
            ),
        ],
    ],
)
def test_a_sound_module_is_clean(edits: list[tuple[str, str]], tmp_path: Path) -> None:
    assert findings(tmp_path, *edits) == set()
