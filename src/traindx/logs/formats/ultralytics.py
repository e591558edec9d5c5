"""Ultralytics YOLO: `results.csv` with the `args.yaml` next to it (YOLOv5: `opt.yaml`, `hyp.yaml`).

The schemas of v5 (`train/obj_loss`, `metrics/mAP_0.5`, `x/lr0`), v8 and later (`train/dfl_loss`,
`metrics/mAP50(B)`, `lr/pg0`), segmentation and pose, and classification are read; headers and cells
padded with blanks are trimmed. Epochs start at 0 or 1 as written. `metrics/...` are measured on the
validation data.

The file holds the terms of the loss but not the loss: their sum is added as `loss` and `val/loss` for
the rows that hold every term, and marked as derived.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import csvs, yamls
from traindx.logs.layouts import header
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.tables import logs_from_table

RESULTS = "results.csv"
_CONFIGS = ("args.yaml", "opt.yaml", "hyp.yaml")


def claim(file: File) -> Claim | None:
    """Columns `train/...` and `metrics/...` by epoch; settings only next to a `results.csv`."""
    if file.name in _CONFIGS:
        has_results = (file.path.parent / RESULTS).is_file()
        return Claim(file.folder, part=True) if has_results else None
    if not file.name.endswith(".csv"):
        return None
    columns = header(file)
    fronts = {column.partition("/")[0] for column in columns if "/" in column}
    if not columns or columns[0] != "epoch" or not {"train", "metrics"} <= fronts:
        return None
    return Claim(file.folder if file.name == RESULTS else file.shown)


def read(bundle: Bundle) -> Iterator[Log]:
    """The results of one training folder with its arguments."""
    config = yamls.load_files(bundle.files, _CONFIGS)
    for file in bundle.files:
        if file.name in _CONFIGS:
            continue
        table = csvs.read_table(file)
        for log in logs_from_table(table, step="epoch", axis="epoch", config=config):
            for column in log.columns:
                column.split = "val" if column.name.startswith("metrics/") else None
            yield log


READER = Reader("ultralytics", "Ultralytics results", 31, claim, read)
