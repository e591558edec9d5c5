"""What the generic table readers share: is this a training at all, which column is the clock."""

from __future__ import annotations

import re

import numpy as np

from traindx.core import names
from traindx.core.nouns import Unreadable
from traindx.logs import jsons
from traindx.logs.lines import plain
from traindx.logs.log import Log
from traindx.logs.log_file import HEAD_BYTES, File
from traindx.logs.tables import Table, logs_from_table

# Metrics that few data sets have as a column, unlike `time`, `memory`, `error` or `cost`.
_INFORMATIVE = frozenset(
    (
        *("loss", "perplexity", "bits_per_byte", "accuracy", "accuracy/top5", "wer", "cer", "mse", "rmse"),
        *("mae", "f1", "auc", "iou", "dice", "map50", "map", "bleu", "rouge", "psnr", "ssim", "fid"),
        *("reward", "kl", "lr", "grad_norm", "loss_scale", "mfu", "tokens_per_s"),
    )
)
# So many values of one metric and nothing else are a curve.
_ONE_CURVE = 20
_SETTINGS = frozenset(("lr", "kl", "loss_scale", "mfu", "tokens_per_s"))
_INDEX = re.compile(r"(index|unnamed_?:? ?0|i|s|it|mb|round|generation|batch)", re.I)
_CLOCK = re.compile(
    r"(_?timestamps?|time|ts|t|wall[ _]?time|unix_?time|datetime|created_at)(_?(ms|s|sec|seconds))?", re.I
)


def head_rows(file: File) -> list[jsons.Row] | None:
    """The objects in the first lines of a file; None when it does not hold JSON lines."""
    head = plain(file.head)
    if b"{" not in head[:4096]:
        return None
    lines = [line for line in head.split(b"\n") if line.strip()]
    if len(lines) > 1 and len(file.head) >= HEAD_BYTES:
        lines.pop()
    elif len(lines) == 1 and len(file.head) >= HEAD_BYTES:
        return _torn_row(lines[0])
    starts = sum(line.lstrip().startswith(b"{") for line in lines)
    if starts < 0.6 * len(lines):
        return None
    rows = [row for row in map(jsons.parse_line, lines[:400]) if row is not None]
    enough = max(1, round(0.6 * min(len(lines), 400)))
    return rows if len(rows) >= enough or (rows and len(lines) <= 3) else None


def _torn_row(line: bytes) -> list[jsons.Row] | None:
    try:
        row = jsons.load_torn(line)
    except Unreadable:
        return None
    return [row] if isinstance(row, dict) else None


def is_training(table: Table) -> bool:
    """Whether the columns of a table are those of a training rather than of a data set."""
    metrics = [name for name in table.values if _is_informative(name)]
    losses = [name for name in metrics if "loss" in name.lower()]
    counters = [n for n in table.values if names.counter_rank(n) is not None and _counting(table, n)]
    real = [n for n in counters if not _INDEX.fullmatch(n.strip())]
    if metrics and real:
        return True
    if table.rows >= 3 and (losses or _split_pair(metrics)):
        return True
    if table.rows >= _ONE_CURVE and metrics and len(table.values) == 1:
        return True
    return bool(real) and len(table.values) >= 2 and table.rows >= 5


def has_result(cells: dict[str, float]) -> bool:
    """Whether single values are results of a training, not settings: a counter and a metric."""
    has_counter = any(names.counter_rank(name.rpartition("/")[2]) is not None for name in cells)
    plain = [names.understand(n) for n in cells if _is_informative(n)]
    return has_counter and any(m.metric not in _SETTINGS and not m.part for m in plain)


def logs(table: Table, *, config: dict[str, object] | None = None) -> list[Log]:
    """The trainings in a table of unknown origin."""
    clock = _clock(table)
    _drop_row_numbers(table)
    return logs_from_table(table, config=config, times=clock)


def _is_informative(name: str) -> bool:
    meaning = names.understand(name)
    return meaning.known and meaning.metric in _INFORMATIVE


def _split_pair(metrics: list[str]) -> bool:
    """Whether `train_acc` comes with `val_acc`."""
    splits: dict[str, set[str]] = {}
    for name in metrics:
        meaning = names.understand(name)
        splits.setdefault(meaning.metric, set()).add(meaning.split or "train")
    return any({"train"} < split_names for split_names in splits.values())


def _counting(table: Table, name: str) -> bool:
    """Whole or growing numbers that rarely fall."""
    values = table.values[name][table.has(name)]
    values = values[np.isfinite(values)]
    if not values.size or (values < 0).any():
        return False
    return values.size < 3 or float((np.diff(values) < 0).mean()) <= 0.3


def _clock(table: Table) -> str | None:
    """The column of unix times, turned into seconds."""
    for name, values in table.values.items():
        if not _CLOCK.fullmatch(name.strip()):
            continue
        there = values[table.has(name)]
        if not there.size or not np.isfinite(there).all():
            continue
        for unit in (1.0, 1e3, 1e6, 1e9):
            if float(there.min()) >= 1e9 * unit and float(there.max()) <= 4.2e9 * unit:
                table.values[name] = values / unit
                return name
    return None


def _drop_row_numbers(table: Table) -> None:
    """Row numbers that a data frame adds to a real counter are no metric."""
    if not any(names.counter_rank(n) is not None and not _INDEX.fullmatch(n.strip()) for n in table.values):
        return
    for name in [n for n in table.values if n.lower().startswith(("unnamed: 0", "index"))]:
        values = table.values[name]
        if name not in table.present and np.array_equal(values, np.arange(values.size) + values[0]):
            del table.values[name]
