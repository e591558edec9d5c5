"""`trainer_log.jsonl` by LLaMA-Factory's LogCallback on a Hugging Face Trainer."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import sys
from pathlib import Path

from hf_trainer import trainer_for
from llamafactory.train.callbacks import LogCallback
from record_version import record

NAMES = {"loss": "loss", "eval_loss": "eval_loss", "learning_rate": "lr", "epoch": "epoch"}


def write(out: Path) -> None:
    """Write the sample and its truth below `out`."""
    shutil.rmtree(out, ignore_errors=True)
    run = out / "run"
    trainer, witness = trainer_for(run, evaluate=True, report_to="none")
    trainer.add_callback(LogCallback())
    trainer.train()
    for path in list(run.iterdir()):
        if path.name != "trainer_log.jsonl":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    series = {NAMES[name]: points for name, points in witness.series.items() if name in NAMES}
    truth = {"run": {"series": series, "config": {"total_steps": 12}}}
    (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    record("llamafactory", importlib.metadata.version("llamafactory"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
