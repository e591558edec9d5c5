"""Event files by PyTorch's SummaryWriter: a plain run, one with text, hparams and add_scalars, a resume."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path

import torch
from record_version import record, shown
from torch.utils.tensorboard import SummaryWriter

CONFIG = {"learning_rate": 0.001, "optimizer": "adamw", "batch_size": 32, "epochs": 3}


def write(out: Path) -> None:
    """Write every sample and its truth below `out`."""
    shutil.rmtree(out, ignore_errors=True)
    truth: dict[str, dict[str, object]] = {
        "plain": plain(out / "plain"),
        "rich": rich(out / "rich"),
        "resumed": resumed(out / "resumed"),
    }
    (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    record("torch", torch.__version__)


def plain(folder: Path) -> dict[str, object]:
    series: dict[str, list[list[object]]] = {}
    with SummaryWriter(str(folder)) as writer:
        for step in range(60):
            loss = float("nan") if step in (41, 42) else math.inf if step == 40 else 2.0 / (1 + step)
            _add(writer, series, "train/loss", loss, step)
            _add(writer, series, "train/lr", 1e-3 * (1 - step / 60), step)
            if step % 20 == 19:
                _add(writer, series, "val/loss", 2.5 / (1 + step), step)
    _name(folder, 1700000000)
    return {"series": series, "config": {}}


def rich(folder: Path) -> dict[str, object]:
    series: dict[str, list[list[object]]] = {}
    with SummaryWriter(str(folder)) as writer:
        writer.add_text("args", json.dumps({**CONFIG, "weight": float("nan")}))
        writer.add_text("notes", "a run with everything in it")
        for step in range(0, 30, 10):
            _add(writer, series, "train/loss", 1.0 / (1 + step), step, new_style=True)
            _add(
                writer, series, "train/precise", 1.0 / (3 + step), step, double_precision=True, new_style=True
            )
            writer.add_histogram("weights", torch.linspace(-1, 1, 20), step)
            writer.add_image("sample", torch.zeros(1, 2, 2), step)
            writer.add_scalars(
                "error", {"train": 0.5 - step / 100, "val": 0.6 - step / 100}, step, 1.7e9 + step
            )
            series.setdefault("train:error", []).append([step, shown(_single(0.5 - step / 100))])
            series.setdefault("val:error", []).append([step, shown(_single(0.6 - step / 100))])
        writer.add_hparams(CONFIG, {"hparam/best": 0.25}, run_name="1700000001.5")
        series["hparam/best"] = [[0, 0.25]]
    for below in (folder, *(p for p in folder.iterdir() if p.is_dir())):
        _name(below, 1700000000)
    return {"series": series, "config": CONFIG}


def resumed(folder: Path) -> dict[str, object]:
    series: dict[str, list[list[object]]] = {}
    for start, stop, stamp in ((0, 25, 1700000000), (20, 40, 1700001000)):
        with SummaryWriter(str(folder / "new")) as writer:
            for step in range(start, stop):
                _add(writer, series if start or step < 20 else {}, "loss", start + 1.0 / (1 + step), step)
        _name(folder / "new", stamp)
        shutil.move(str(next((folder / "new").iterdir())), folder)
        (folder / "new").rmdir()
    return {"series": series, "config": {}}


def _add(
    writer: SummaryWriter,
    series: dict[str, list[list[object]]],
    tag: str,
    value: float,
    step: int,
    **how: bool,
) -> None:
    writer.add_scalar(tag, value, step, 1.7e9 + step, **how)
    series.setdefault(tag, []).append([step, shown(value if how.get("double_precision") else _single(value))])


def _single(value: float) -> float:
    return float(torch.tensor(value, dtype=torch.float32))


def _name(folder: Path, stamp: int) -> None:
    """Names that do not depend on the machine."""
    for number, path in enumerate(sorted(p for p in folder.iterdir() if p.is_file())):
        path.rename(folder / f"events.out.tfevents.{stamp}.host.1.{number}")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
