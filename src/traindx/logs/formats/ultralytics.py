"""Ultralytics YOLO: `results.csv` with the `args.yaml` next to it (YOLOv5, YOLOv7: `opt.yaml`, `hyp.yaml`).

The schemas of v5 (`train/obj_loss`, `metrics/mAP_0.5`, `x/lr0`), v8 and later (`train/dfl_loss`,
`metrics/mAP50(B)`, `lr/pg0`), segmentation and pose, and classification are read; headers and cells
padded with blanks are trimmed. Epochs start at 0 or 1 as written. `metrics/...` are measured on the
validation data. The `results.txt` of YOLOv7 and early versions of v5 has no header: fifteen columns in a
fixed order, `0/299 11.8G ...`.

The file holds the terms of the loss but not the loss: their sum is added as `loss` and `val/loss` for
the rows that hold every term, and marked as derived.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import csvs, yamls
from traindx.logs.layouts import header
from traindx.logs.lines import blocks
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.tables import Table, logs_from_table

RESULTS = ("results.csv", "results.txt")
_CONFIGS = ("args.yaml", "opt.yaml", "hyp.yaml")
_COLUMNS = (
    "train/box_loss train/obj_loss train/cls_loss train/total_loss labels img_size metrics/precision "
    "metrics/recall metrics/mAP_0.5 metrics/mAP_0.5:0.95 val/box_loss val/obj_loss val/cls_loss"
).split()
_ROW = re.compile(rb"[ \t]*(\d{1,6})/\d{1,6}[ \t]+[\d.]+G((?:[ \t]+[-+.\deE]{1,24}|[ \t]+nan){13})[ \t]*\r?")


def claim(file: File) -> Claim | None:
    """Columns `train/...` and `metrics/...` by epoch; settings only next to a `results.csv`."""
    if file.name in _CONFIGS:
        has_results = any((file.path.parent / name).is_file() for name in RESULTS)
        return Claim(file.folder, part=True) if has_results else None
    if _ROW.fullmatch(file.head.partition(b"\n")[0]):
        return Claim(file.folder if file.name in RESULTS else file.shown)
    if not file.name.endswith(".csv"):
        return None
    columns = header(file)
    fronts = {column.partition("/")[0] for column in columns if "/" in column}
    if not columns or columns[0] != "epoch" or not {"train", "metrics"} <= fronts:
        return None
    return Claim(file.folder if file.name in RESULTS else file.shown)


def read(bundle: Bundle) -> Iterator[Log]:
    """The results of one training folder with its arguments."""
    config = yamls.load_files(bundle.files, _CONFIGS)
    for file in bundle.files:
        if file.name in _CONFIGS:
            continue
        table = csvs.read_table(file) if file.name.endswith(".csv") else _without_header(file)
        for log in logs_from_table(table, step="epoch", axis="epoch", config=config):
            for column in log.columns:
                column.split = "val" if column.name.startswith("metrics/") else None
            yield log


def _without_header(file: File) -> Table:
    """The rows of a `results.txt`; its total counts every term once more and is left out."""
    lines = (line for block in blocks(file) for line in block.split(b"\n"))
    rows = [(match[1], *match[2].split()) for line in lines if (match := _ROW.fullmatch(line))]
    cells = np.array([[_number(cell) for cell in row] for row in rows], dtype=np.float64)
    named = zip(("epoch", *_COLUMNS), cells.reshape(len(rows), -1).T, strict=False)
    return Table({name: column for name, column in named if name != "train/total_loss"}, {})


def _number(cell: bytes) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


READER = Reader("ultralytics", "Ultralytics results", 31, claim, read)
