"""Samples in the form of Detectron2, DETR and old MMDetection, which do not install from an index.

These are built from the keys their writers document (one JSON object per line), not by the
libraries themselves. `mmengine.py` writes the MMEngine form with the real library.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path


def write(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    truth: dict[str, dict[str, list[list[object]]]] = {}
    rows: list[dict[str, object]] = []
    for iteration in range(19, 200, 20):
        row = {"data_time": 0.01, "eta_seconds": 200.0 - iteration, "iteration": iteration,
               "loss_box_reg": 0.5, "loss_cls": math.nan if iteration == 99 else 1.0, "lr": 1e-3,
               "time": 0.3, "total_loss": math.nan if iteration == 99 else 30.0 / iteration}  # fmt: skip
        rows.append(row)
        if iteration % 100 == 99:
            rows.append({"bbox/AP": iteration / 10, "bbox/AP50": iteration / 5, "iteration": iteration})
    truth["metrics.json"] = _series(rows, "iteration")
    _lines(out / "metrics.json", rows)
    rows = [
        {"train_lr": 1e-4, "train_class_error": 90.0 - e, "train_loss": 20.0 - e, "test_loss": 21.0 - e,
         "test_coco_eval_bbox": [0.01 * e + 0.001 * k for k in range(12)], "epoch": e,
         "n_parameters": 41302368}
        for e in range(6)
    ]  # fmt: skip
    _lines(out / "log.txt", rows)
    truth["log.txt"] = _series(rows, "epoch")
    rows = [{"env_info": "sys.platform: linux", "config": "model = dict()", "seed": 7, "exp_name": "x.py"}]
    truth["20240101_000000.log.json"] = {"loss": [], "bbox_mAP": []}
    for epoch in (1, 2):
        for at in (50, 100):
            loss = 3.0 / (epoch * at)
            rows.append({"mode": "train", "epoch": epoch, "iter": at, "lr": 0.01, "memory": 3000,
                         "data_time": 0.02, "loss_cls": loss / 2, "loss": loss, "time": 0.2})  # fmt: skip
            truth["20240101_000000.log.json"]["loss"].append([(epoch - 1) * 100 + at, loss])
        rows.append({"mode": "val", "epoch": epoch, "iter": 17, "lr": 0.01, "bbox_mAP": 0.1 * epoch})
        truth["20240101_000000.log.json"]["bbox_mAP"].append([epoch * 100, 0.1 * epoch])
    _lines(out / "20240101_000000.log.json", rows)
    (out / "truth.json").write_text(json.dumps(truth, indent=1))


def _series(rows: list[dict[str, object]], counter: str) -> dict[str, list[list[object]]]:
    found: dict[str, list[list[object]]] = {}
    for row in rows:
        for name, value in row.items():
            if name not in (counter, "n_parameters") and isinstance(value, int | float):
                shown = value if math.isfinite(value) else "NaN"
                found.setdefault(name, []).append([row[counter], shown])
    return found


def _lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
