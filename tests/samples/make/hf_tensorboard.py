"""The event file of a Hugging Face Trainer run (`report_to="tensorboard"`)."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import torch
from hf_trainer import trainer_for
from record_version import shown


def write(out: Path) -> None:
    """Write the event file and its truth below `out`."""
    shutil.rmtree(out, ignore_errors=True)
    run = out.resolve() / "run"
    run.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        os.environ["TENSORBOARD_LOGGING_DIR"] = "tb"
        trainer, witness = trainer_for(Path("out"), evaluate=True, report_to="tensorboard")
        trainer.train()
        (found,) = Path().rglob("events.out.tfevents.*")
        shutil.copy(found, run / "events.out.tfevents.1700000000.host.1.0")
    series = {
        _tag(name): [[step, _single(value)] for step, value in points]
        for name, points in witness.series.items()
    }
    series |= {f"train/{name}": [[12, _single(value)]] for name, value in witness.summary.items()}
    config = {"learning_rate": 0.01, "per_device_train_batch_size": 4, "hidden_size": 8}
    truth = {"run": {"series": series, "config": config}}
    (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


def _tag(name: str) -> str:
    return f"eval/{name.removeprefix('eval_')}" if name.startswith("eval_") else f"train/{name}"


def _single(value: object) -> object:
    return shown(float(torch.tensor(value, dtype=torch.float32))) if isinstance(value, int | float) else value


if __name__ == "__main__":
    write(Path(sys.argv[1]))
