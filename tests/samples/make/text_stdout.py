"""What trainings print: Keras bars, Trainer dicts under tqdm, Lightning's bar, the logging module.

Each log is the standard output and error of a process of its own; its truth is what the library's
own callbacks were given.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from record_version import record, shown

os.environ.setdefault("KERAS_BACKEND", "torch")
TRUTH = "TRAINDX_TRUTH"


def tell(truth: dict[str, Any]) -> None:
    Path(os.environ[TRUTH]).write_text(json.dumps(truth))


def points(rows: list[dict[str, Any]], name: str, step: str) -> list[list[object]]:
    return [[row[step], shown(float(row[name]))] for row in rows if name in row]


def print_keras() -> None:
    import keras
    import numpy as np

    keras.utils.set_random_seed(1)
    x = np.random.default_rng(0).normal(size=(160, 8)).astype("float32")
    y = (x[:, 0] > 0).astype("float32")
    model = keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(1, "sigmoid")]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(x, y, batch_size=32, epochs=8, validation_split=0.25).history
    model.evaluate(x, y, batch_size=64)
    record("keras", keras.__version__)
    series = {name: [[at + 1, float(f"{v:.4f}")] for at, v in enumerate(history[name])] for name in history}
    tell(
        {
            "axis": "epoch",
            "series": {name: series[name] for name in ("loss", "val_loss", "accuracy", "val_accuracy")},
        }
    )


def print_trainer() -> None:
    import torch
    import transformers
    from torch.utils.data import TensorDataset

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(4, 1)

        def forward(self, x: Any, labels: Any) -> dict[str, Any]:
            return {"loss": ((self.inner(x)[:, 0] - labels) ** 2).mean(), "logits": self.inner(x)}

    torch.manual_seed(0)
    x = torch.randn(96, 4)
    data = [{"x": a, "labels": b} for a, b in TensorDataset(x, x.sum(1))]
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            folder,
            per_device_train_batch_size=8,
            num_train_epochs=5,
            logging_steps=6,
            eval_strategy="epoch",
            save_strategy="no",
            report_to=[],
            learning_rate=0.05,
            use_cpu=True,
        )
        trainer = transformers.Trainer(Model(), arguments, train_dataset=data, eval_dataset=data[:16])
        trainer.train()
    rows = trainer.state.log_history
    record("transformers", transformers.__version__)
    names = {
        "loss": "loss",
        "grad_norm": "grad_norm",
        "learning_rate": "learning_rate",
        "eval_loss": "eval_loss",
    }
    told = {}
    for name in names:
        told[name] = [
            [float(f"{row['epoch']:.4g}"), float(f"{row[name]:.4g}")] for row in rows if name in row
        ]
    tell({"axis": "epoch", "series": told})


def print_lightning() -> None:
    import lightning
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(4, 1)
            self.last: list[float] = []

        def training_step(self, batch: Any, _: int) -> Any:
            loss = ((self.inner(batch[0])[:, 0] - batch[1]) ** 2).mean()
            self.log("train_loss", loss, prog_bar=True)
            self.final = float(loss)
            return loss

        def on_train_epoch_end(self) -> None:
            self.last.append(self.final)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.05)

    lightning.seed_everything(0)
    x = torch.randn(96, 4)
    module = Module()
    bar = lightning.pytorch.callbacks.TQDMProgressBar(refresh_rate=4)
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            max_epochs=6,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            callbacks=[bar],
            default_root_dir=folder,
        )
        trainer.fit(module, DataLoader(TensorDataset(x, x.sum(1)), batch_size=8))
    record("lightning", lightning.__version__)
    told = [[epoch, float(f"{loss:.3g}")] for epoch, loss in enumerate(module.last)]
    tell({"axis": "epoch", "series": {"train_loss": told}})


def print_logging() -> None:
    """A plain loop with the logging module that runs into NaN."""
    import numpy as np

    logging.basicConfig(
        format="%(asctime)s %(levelname)s %(name)s:%(lineno)d - %(message)s", level=logging.INFO
    )
    log = logging.getLogger("train")
    log.info("Namespace(lr=1.9, batch_size=16, optimizer='sgd', epochs=3)")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(16, 3))
    weights, told = np.ones(3) * 0.5, []
    with np.errstate(all="ignore"):
        for step in range(60):
            error = (x @ weights) ** 2 - 1
            loss, gradient = float((error**2).mean()), 4 * (error * (x @ weights)) @ x / 16
            weights = weights - 1.9 * gradient
            norm = float(np.sqrt((gradient**2).sum()))
            log.info("step %d/60 loss=%.6g grad_norm=%.4g lr=%.1e", step, loss, norm, 1.9)
            told.append(
                {"step": step, "loss": float(f"{loss:.6g}"), "grad_norm": float(f"{norm:.4g}"), "lr": 1.9}
            )
    tell(
        {"axis": "step", "series": {name: points(told, name, "step") for name in ("loss", "grad_norm", "lr")}}
    )


def write(out: Path) -> None:
    """Run every training in a process of its own and keep what it printed."""
    out.mkdir(parents=True, exist_ok=True)
    truth = {}
    for name in ("keras", "trainer", "lightning", "logging"):
        with tempfile.NamedTemporaryFile() as told:
            environment = {**os.environ, TRUTH: told.name}
            with open(out / f"{name}.log", "wb") as log:
                subprocess.run(
                    [sys.executable, "-W", "ignore", __file__, "--print", name],
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    check=True,
                )
            truth[f"{name}.log"] = json.loads(Path(told.name).read_text())
    (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--print":
        globals()[f"print_{sys.argv[2]}"]()
    else:
        write(Path(sys.argv[1]))
