"""A pasted stretch of a log as a run: bare numbers, or lines that the text reader knows."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from traindx.core import names
from traindx.core.names import METRICS, parts
from traindx.core.nouns import Run, Series, Unreadable
from traindx.interview.typed_numbers import NUMBER, numbers_in
from traindx.logs.assemble import run_from_log
from traindx.logs.derived import with_loss
from traindx.logs.log_file import MemoryFile

NAME = "answers"
_ROW = re.compile(r"([^\W\d][^\d:=]*?)\s*[:=]?\s+((?:[-+\w.]+[\s,;]+){2,}[-+\w.]+)")
_LETTERS = re.compile(r"[^\W\d_]{2,}")


def curves_in(text: str, names_asked_for: Sequence[str]) -> Run | None:
    """A run of what was pasted; None when nothing can be made of it."""
    if not _LETTERS.search(NUMBER.sub(" ", text)):
        return _bare(text, names_asked_for)
    return _labelled(text, names_asked_for) or log_in(text)


def _labelled(text: str, names_asked_for: Sequence[str]) -> Run | None:
    """`train: 2.3 2.2 2.1`, one curve a line."""
    series: dict[str, Series] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        match = _ROW.fullmatch(line)
        if match is None:
            return None
        held_out = names.understand(match[1].strip()).split in ("val", "test")
        fits = [
            name for name in names_asked_for if name.startswith("val/") == held_out and name not in series
        ]
        if not fits:
            return None
        series[fits[0]] = series_of(fits[0], numbers_in(match[2]))
    return pasted_run(series) if series else None


def log_in(text: str) -> Run | None:
    """Lines of a log, as the text reader reads them."""
    from traindx.logs.text.read import logs_of

    file = MemoryFile(text.encode("utf-8", "replace") + b"\n", NAME)
    try:
        logs = list(logs_of(file))
    except (Unreadable, ValueError, OverflowError):
        return None
    runs = [run_from_log(log, name=NAME, path=NAME, format="text") for log in logs]
    runs = [with_loss(run, {}) for run in runs if run.series]
    return max(runs, key=lambda run: run.points, default=None)


def _bare(text: str, names_asked_for: Sequence[str]) -> Run | None:
    """Numbers only: one curve, or one per column."""
    columns = _columns(text, len(names_asked_for))
    if columns is None:
        return None
    return pasted_run(
        {name: series_of(name, values) for name, values in zip(names_asked_for, columns, strict=True)}
    )


def pasted_run(series: Mapping[str, Series]) -> Run:
    """Curves that were given row by row."""
    return Run(name=NAME, path=NAME, formats=(NAME,), axis="row", series=series)


def _columns(text: str, count: int) -> list[list[float]] | None:
    if count == 1:
        values = numbers_in(text)
        return [values] if any(math.isfinite(v) for v in values) or len(values) > 1 else None
    rows = [numbers_in(line) for line in text.splitlines()]
    rows = [row for row in rows if row]
    if len(rows) >= 2 and all(len(row) in (count, count + 1) for row in rows):
        return [list(column) for column in zip(*(row[-count:] for row in rows), strict=True)]
    flat = [value for row in rows for value in row]
    if len(rows) == count and len({len(row) for row in rows}) == 1:
        return rows
    if len(rows) == 1 and len(flat) >= 2 * count and len(flat) % count == 0:
        return [flat[at::count] for at in range(count)]
    return None


def series_of(name: str, values: Sequence[float]) -> Series:
    """Values under the name of a known curve."""
    metric = METRICS.get(parts(name).metric)
    return Series(
        name=name,
        steps=np.arange(len(values), dtype=np.float64),
        values=np.asarray(values, dtype=np.float64),
        source=name,
        goal=metric.goal if metric else "none",
        floor=metric.floor if metric else None,
        axis="row",
    )
