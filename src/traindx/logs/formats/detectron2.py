"""JSON lines of the detection families: Detectron2, DETR and its descendants, MMDetection.

- Detectron2 writes `metrics.json` (JSON lines in spite of its name) with an `iteration` in every
  line; `bbox/AP` and its like are measured on the validation set.
- DETR, DeiT, MAE and others write `log.txt`, one line per epoch with `train_*` and `test_*`; a list
  under `test_coco_eval_bbox` holds the twelve COCO figures, which get their names back.
- MMDetection (`*.log.json`) and MMEngine (`scalars.json`) mark rows as train or val; the counter of
  a val row counts something else, so it takes the step of the training row before it.
"""

from __future__ import annotations

import re

from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import generic, jsons
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.tables import logs_from_table

_COCO = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")
_TASK = re.compile(r"(^|/)(bbox|segm|keypoints|sem_seg|panoptic_seg)/")
_MM_KEYS = ({"mode", "step"}, {"data_time", "memory"}, {"lr", "base_lr"})
_MM_COUNTERS = ("epoch", "iter", "step")


def claim(file: File) -> Claim | None:
    """JSON lines with the keys one of the families always writes."""
    if file.head.lstrip()[:1] != b"{":
        return None
    rows = generic.head_rows(file)
    return Claim(file.shown) if rows and _family(rows) else None


def _family(rows: list[jsons.Row]) -> str:
    keys = {key for row in rows[:50] for key in row}
    if "iteration" in keys and keys & {"total_loss", "eta_seconds", "data_time", "rank_data_time"}:
        return "detectron2"
    if "epoch" in keys and "train_loss" in keys and keys & {"n_parameters", "train_lr", "test_loss"}:
        return "detr"
    if "iter" in keys and all(keys & any_of for any_of in _MM_KEYS):
        return "mm"
    return ""


def read(bundle: Bundle) -> list[Log]:
    """The trainings in one file."""
    file = bundle.files[0]
    rows = jsons.read_rows(file)
    family = _family(rows)
    config: dict[str, object] = {}
    if family == "detr":
        rows = [_detr_row(row, config) for row in rows]
    elif family == "mm":
        rows = [_mm_row(row) for row in rows if _is_mm_row(row, config)]
    step = {"detectron2": "iteration", "detr": "epoch"}.get(family)
    table = jsons.table_of(rows)
    logs = logs_from_table(table, step=step, config=config)
    if family == "detectron2":
        for column in (column for log in logs for column in log.columns):
            if _TASK.search(column.name) and column.values.size:
                column.split = "val"
    return logs


def _detr_row(row: jsons.Row, config: dict[str, object]) -> jsons.Row:
    cells: jsons.Row = {}
    for name, value in row.items():
        if name == "n_parameters":
            config[name] = value
        elif isinstance(value, list) and len(value) == len(_COCO):
            cells.update({f"{name}/{title}": cell for title, cell in zip(_COCO, value, strict=True)})
        else:
            cells[name] = value
    return cells


def _is_mm_row(row: jsons.Row, config: dict[str, object]) -> bool:
    """Whether a line holds measurements; the first line of MMDetection holds the environment."""
    if "mode" in row or not {"env_info", "config", "mmdet_version", "exp_name"} & set(row):
        return True
    config.update({key: value for key, value in row.items() if key in ("seed", "exp_name", "mmdet_version")})
    return False


def _mm_row(row: jsons.Row) -> jsons.Row:
    """A val row loses its own counters and is marked; a train row stays."""
    if row.get("mode") == "val" or ("mode" not in row and "iter" not in row):
        return {**{k: v for k, v in row.items() if k not in (*_MM_COUNTERS, "lr")}, "mode": "val"}
    return {**{k: v for k, v in row.items() if k != "step"}, "mode": row.get("mode", "train")}


READER = Reader("detectron2", "Detectron2, DETR or MMDetection JSON lines", 34, claim, read)
