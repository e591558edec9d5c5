"""Offline runs by W&B: a history with NaN and nested keys, a defined step metric, a global step."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ["WANDB_SILENT"] = "true"

import wandb
from record_version import record, shown

CONFIG = {"lr": 0.001, "batch_size": 32, "optimizer": {"name": "adam", "betas": [0.9, 0.999]}, "amp": True}
Rows = list[dict[str, object]]


def write(out: Path) -> None:
    """Write every sample and its truth below `out`."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    truth = {name: _run(out, name, number, make) for number, (name, make) in enumerate(RUNS.items(), 1)}
    (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    record("wandb", wandb.__version__)


def _history(run: wandb.Run) -> dict[str, object]:
    rows: Rows = []
    for step in range(40):
        loss = math.nan if step in (20, 21) else math.inf if step == 19 else 1 / (1 + step)
        rows.append(
            {"train/loss": loss, "acc": step / 40, "ok": step > 3, "grad": {"norm": 0.1 * step}, "note": "x"}
        )
        if step % 10 == 9:
            rows.append({"val/loss": 2 / (1 + step), "sample": wandb.Histogram([1, 2, step])})
    series: dict[str, list[list[object]]] = {}
    for at, row in enumerate(rows):
        run.log(row)
        flat = {**row, "grad.norm": row["grad"]["norm"]} if "grad" in row else row
        for key, value in flat.items():
            if isinstance(value, int | float):
                series.setdefault(key, []).append([at, shown(float(value))])
    return {"series": series, "config": CONFIG}


def _defined(run: wandb.Run) -> dict[str, object]:
    run.define_metric("epoch")
    run.define_metric("val/*", step_metric="epoch")
    run.define_metric("loss", step_metric="samples")
    series: dict[str, list[list[object]]] = {"loss": [], "val/loss": []}
    for step in range(12):
        run.log({"loss": 1 / (1 + step), "samples": 64 * step})
        series["loss"].append([64 * step, 1 / (1 + step)])
        if step % 4 == 3:
            run.log({"val/loss": 2 / (1 + step), "epoch": step // 4})
            series["val/loss"].append([step // 4, 2 / (1 + step)])
    return {"series": series, "config": CONFIG}


def _global_step(run: wandb.Run) -> dict[str, object]:
    series: dict[str, list[list[object]]] = {"train/loss": [], "eval/loss": []}
    for step in range(10, 110, 10):
        run.log({"train/loss": 3 / step, "train/global_step": step})
        series["train/loss"].append([step, 3 / step])
        if step % 50 == 0:
            run.log({"eval/loss": 4 / step, "train/global_step": step})
            series["eval/loss"].append([step, 4 / step])
    return {"series": series, "config": CONFIG}


def _nothing_logged(run: wandb.Run) -> dict[str, object]:
    run.summary["best/accuracy"] = 0.75
    return {"series": {"best/accuracy": [[0, 0.75]]}, "config": CONFIG}


RUNS = {"history": _history, "defined": _defined, "global_step": _global_step, "summary": _nothing_logged}


def _run(out: Path, name: str, number: int, make: object) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as place:
        quiet = wandb.Settings(
            console="off",
            x_disable_stats=True,
            x_disable_meta=True,
            disable_git=True,
            disable_code=True,
            host="host",
            username="user",
            program="train.py",
        )
        os.chdir(place)
        run = wandb.init(mode="offline", dir=place, project="samples", id=name, config=CONFIG, settings=quiet)
        truth = make(run)
        run.finish()
        wandb.teardown()
        made = next(Path(place, "wandb").glob("offline-run-*"))
        target = out / f"offline-run-20240101_00000{number}-{name}"
        (target / "files").mkdir(parents=True)
        shutil.copy(next(made.glob("*.wandb")), target)
        os.chdir("/")
    return truth


if __name__ == "__main__":
    write(Path(sys.argv[1]).resolve())
