"""`results.csv` and `args.yaml` by Ultralytics: a real training of the smallest YOLO on drawn squares.

One more file is written by its `save_metrics` from given numbers, to have NaN in it.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import ultralytics
from record_version import record, shown
from ultralytics.engine.trainer import BaseTrainer


def write(out: Path) -> None:
    """Write the samples and their truth below `out`."""
    shutil.rmtree(out, ignore_errors=True)
    truth = {"train": train(out / "train"), "nan": given(out / "nan")}
    (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    record("ultralytics", ultralytics.__version__)


def train(folder: Path) -> dict[str, object]:
    """Three epochs; what the trainer handed to its writer."""
    series: dict[str, list[list[object]]] = {}

    def witness(trainer: Any) -> None:
        lrs = trainer.lr
        for name, value in {**trainer.label_loss_items(trainer.tloss), **trainer.metrics, **lrs}.items():
            series.setdefault(name, []).append([trainer.epoch + 1, shown(float(f"{value:.6g}"))])

    with tempfile.TemporaryDirectory() as scratch:
        data = _squares(Path(scratch))
        model = ultralytics.YOLO("yolov8n.yaml")
        model.add_callback("on_fit_epoch_end", witness)
        model.train(
            data=str(data),
            epochs=3,
            imgsz=64,
            batch=4,
            workers=0,
            device="cpu",
            plots=False,
            save=False,
            project=f"{scratch}/runs",
            name="train",
            seed=0,
            val=True,
            verbose=False,
        )
        folder.mkdir(parents=True)
        for name in ("results.csv", "args.yaml"):
            shutil.copy(Path(model.trainer.save_dir, name), folder / name)
    args = folder / "args.yaml"
    args.write_text(args.read_text().replace(scratch, "/data"))
    series = {name: points[:3] for name, points in series.items()}
    config = {"epochs": 3, "batch": 4, "imgsz": 64, "lr0": 0.01, "optimizer": "auto"}
    return {"series": series, "config": config}


def given(folder: Path) -> dict[str, object]:
    """A loss that becomes NaN, through the library's writer."""
    writer = SimpleNamespace(csv=folder / "results.csv", epoch=0, train_time_start=time.time() - 10)
    series: dict[str, list[list[object]]] = {}
    for epoch in range(4):
        writer.epoch = epoch
        bad = epoch >= 2
        metrics = {
            "train/box_loss": float("nan") if bad else 1.5 - epoch / 4,
            "train/cls_loss": float("nan") if bad else 2.5 - epoch / 2,
            "train/dfl_loss": 1.25,
            "metrics/mAP50(B)": 0.0 if bad else 0.125,
            "val/box_loss": 1.75,
            "val/cls_loss": float("inf") if bad else 2.0,
            "val/dfl_loss": 1.0,
            "lr/pg0": 0.01,
        }
        BaseTrainer.save_metrics(writer, metrics)
        for name, value in metrics.items():
            series.setdefault(name, []).append([epoch + 1, shown(value)])
    return {"series": series, "config": {}}


def _squares(folder: Path) -> Path:
    """Eight pictures of one square each, with labels."""
    draw = np.random.default_rng(0)
    for part in ("train", "val"):
        (folder / part / "images").mkdir(parents=True)
        (folder / part / "labels").mkdir()
        for number in range(4):
            picture = np.zeros((64, 64, 3), dtype=np.uint8)
            x, y = draw.integers(8, 40, 2)
            picture[y : y + 16, x : x + 16] = 255
            cv2.imwrite(str(folder / part / "images" / f"{number}.png"), picture)
            label = f"0 {(x + 8) / 64} {(y + 8) / 64} 0.25 0.25\n"
            (folder / part / "labels" / f"{number}.txt").write_text(label)
    data = folder / "data.yaml"
    data.write_text(f"path: {folder}\ntrain: train/images\nval: val/images\nnames: [square]\n")
    return data


if __name__ == "__main__":
    write(Path(sys.argv[1]))
