"""W&B panel exports: the CSV a chart on the W&B site downloads.

The first column is the x axis (`Step`, `epoch`, `Relative Time (Process)`), then for each run
`<run name> - <metric>` with its `__MIN` and `__MAX` twins, which repeat the value when nothing was
averaged and are left out. Every run name becomes a run of its own. When the x axis is another one,
a run's own `_step` column gives the steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.core import names
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import csvs
from traindx.logs.log import Column, Log
from traindx.logs.log_file import File

_MARK = " - "
_TWINS = ("__MIN", "__MAX")


def claim(file: File) -> Claim | None:
    """A header of `run - metric` columns with their twins."""
    first = file.head.lstrip(b"\xef\xbb\xbf\r\n")[:20000].partition(b"\n")[0]
    if b"," not in first or _MARK.encode() not in first:
        return None
    peek = csvs.peek(file.head)
    if peek is None or len(peek.layout.names) < 2:
        return None
    x, *other_names = peek.layout.names
    twins = any(name.endswith(_TWINS) for name in other_names)
    if not all(_MARK in name for name in other_names) or not (twins or names.counter_rank(x) is not None):
        return None
    return Claim(file.shown)


def read(bundle: Bundle) -> Iterator[Log]:
    """One log per run name."""
    table = csvs.read_table(bundle.files[0])
    x = next((name for name in table.values if _MARK not in name), None)
    logs: dict[str, Log] = {}
    for title, values in table.values.items():
        run, mark, metric = title.rpartition(_MARK)
        if not mark or title.endswith(_TWINS) or metric == "_step":
            continue
        step_column = f"{run}{_MARK}_step"
        axis_name = step_column if step_column in table.values else x
        there = table.has(title)
        if axis_name is None:
            steps = np.arange(table.rows, dtype=float)
        else:
            there = there & table.has(axis_name)
            steps = table.values[axis_name]
        kind = names.axis_of(axis_name.rpartition(_MARK)[2]) if axis_name else "row"
        log = logs.setdefault(run, Log([], axis=kind or "step", name=run))
        if kind is None and axis_name is not None:
            log.notes.append(f"the x axis is {axis_name!r}, not a step")
        log.columns.append(Column(metric, steps[there], values[there]))
    yield from logs.values()


READER = Reader("wandb-export", "W&B panel export (CSV)", 33, claim, read)
