"""Rows with named cells (CSV, JSON lines, histories) as logs: step column, restarts, gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx import names
from traindx.assemble import Column, Log
from traindx.core import Axis, Event

if TYPE_CHECKING:
    from traindx.core import BoolArray, FloatArray, IntArray

_ABSENT = np.nan


@dataclass
class Table:
    """Columns of equal length. `present[name]` tells a logged cell, NaN or not, from a gap.

    A column without an entry in `present` has no gaps.
    """

    values: dict[str, FloatArray]
    present: dict[str, BoolArray]

    @property
    def rows(self) -> int:
        return next((int(v.size) for v in self.values.values()), 0)

    def has(self, name: str) -> BoolArray:
        mask = self.present.get(name)
        return mask if mask is not None else np.ones(self.rows, dtype=bool)


def table_from_rows(rows: Sequence[Mapping[str, object]]) -> Table:
    """A table from dicts whose keys may differ row by row. Null, text and lists are gaps."""
    order: dict[str, None] = {}
    for row in rows:
        for key in row:
            order.setdefault(key)
    values: dict[str, FloatArray] = {}
    present: dict[str, BoolArray] = {}
    for key in order:
        column = np.full(len(rows), _ABSENT)
        mask = np.zeros(len(rows), dtype=bool)
        for i, row in enumerate(rows):
            number = as_number(row.get(key))
            if number is not None:
                column[i] = number
                mask[i] = True
        if mask.any():
            values[str(key)] = column
            if not mask.all():
                present[str(key)] = mask
    return Table(values, present)


def as_number(value: object) -> float | None:
    """A float from what JSON or YAML held; None for what is not a number."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def logs_from_table(
    table: Table,
    *,
    step: str | None = None,
    axis: Axis | None = None,
    config: Mapping[str, object] | None = None,
    events: Sequence[Event] = (),
    times: str | None = None,
) -> list[Log]:
    """One log per training in the table: restarts of the step column part them."""
    if not table.rows:
        return []
    steps, axis_found, used = step_axis(table, step)
    logs = []
    for rows, resumes in segments(steps):
        columns = []
        for name, values in table.values.items():
            if name in used or name == times:
                continue
            mask = table.has(name)[rows] & np.isfinite(steps[rows])
            if not mask.any():
                continue
            at = rows[mask]
            clock = table.values[times][at] if times and times in table.values else None
            columns.append(Column(name, steps[at], values[at], clock))
        logs.append(
            Log(
                columns=columns,
                axis=axis or axis_found,
                config=dict(config or {}),
                events=[*events, *resumes],
            )
        )
    if len(logs) > 1:
        for number, log in enumerate(logs, 1):
            log.name = f"part {number}"
    return logs


def step_axis(table: Table, step: str | None = None) -> tuple[FloatArray, Axis, set[str]]:
    """The step of every row, what it counts, and the columns that are consumed by it.

    A counter that starts again whenever the epoch advances is joined with the epoch into one
    running count. Rows that lack the step take it from the epoch they name, or from the row before.
    """
    rows = table.rows
    if step is not None and step in table.values:
        steps = np.where(table.has(step), table.values[step], np.nan)
        return _fill_gaps(steps), names.axis_of(step) or "step", {step}
    counters = [(names.counter_rank(n), n) for n in table.values]
    ranked = [n for rank, n in sorted((r, n) for r, n in counters if r is not None)]
    ranked = [n for n in ranked if _counts(table.values[n][table.has(n)])]
    if not ranked:
        return np.arange(rows, dtype=float), "row", set()
    best = ranked[0]
    kind = names.axis_of(best) or "step"
    steps = np.where(table.has(best), table.values[best], np.nan)
    used = {best}
    epochs = [n for n in ranked[1:] if names.axis_of(n) == "epoch"]
    if kind == "step" and epochs:
        outer = np.where(table.has(epochs[0]), table.values[epochs[0]], np.nan)
        joined = _join_epochs(steps, outer)
        if joined is not None:
            steps = joined
    return _fill_gaps(steps), kind, used


def _counts(values: FloatArray) -> bool:
    """Whether a column could count steps: mostly finite, not negative, not always falling."""
    finite = values[np.isfinite(values)]
    if not finite.size or finite.size < 0.5 * values.size or (finite < 0).mean() > 0.5:
        return False
    moves = np.diff(finite)
    return not (moves.size >= 2 and (moves < 0).mean() > 0.9)


def _join_epochs(inner: FloatArray, outer: FloatArray) -> FloatArray | None:
    """`epoch * length + inner` when the inner counter starts again as the epoch advances."""
    both = np.isfinite(inner) & np.isfinite(outer)
    if both.sum() < 3:
        return None
    a, e = inner[both], outer[both]
    back = np.diff(a) < 0
    up = np.diff(e) > 0
    if not back.any() or (back & up).sum() < 0.8 * max(back.sum(), 1) or (back & up).sum() < 0.5 * up.sum():
        return None
    start = 1.0 if a.min() >= 1 else 0.0
    length = a.max() - start + 1
    first = float(np.floor(e.min()))
    return (np.floor(outer) - first) * length + inner


def _fill_gaps(steps: FloatArray) -> FloatArray:
    """Rows without a step take the step of the row before (or of the first that has one)."""
    known = np.isfinite(steps)
    if known.all() or not known.any():
        return steps
    index = np.where(known, np.arange(steps.size), -1)
    np.maximum.accumulate(index, out=index)
    index[index < 0] = int(np.flatnonzero(known)[0])
    return steps[index]


def segments(steps: FloatArray) -> list[tuple[IntArray, list[Event]]]:
    """Rows of each training in the file, in order.

    A step that falls back to where its training began starts another training. A fall to a later
    step is a resume from a checkpoint: what had been logged beyond it is superseded. A lone row
    out of order is neither.
    """
    rows = np.arange(steps.size)
    finite = np.isfinite(steps)
    back = np.flatnonzero(np.diff(np.where(finite, steps, -np.inf)) < 0) + 1
    back = back[finite[back]]
    if not back.size:
        return [(rows, [])]
    if back.size > max(20, 0.05 * steps.size):
        return [(rows, [])]
    ups = np.diff(steps[finite])
    stride = float(np.median(ups[ups > 0])) if (ups > 0).any() else 1.0
    parts: list[tuple[IntArray, list[Event]]] = []
    current, events = 0, list[Event]()
    dropped = np.zeros(steps.size, dtype=bool)
    for at in back:
        begin = np.nanmin(steps[current:at])
        peak = np.nanmax(steps[current:at])
        following = steps[at : at + 3]
        if following.size > 1 and np.nanmax(following[1:]) >= peak and following.size == 3:
            continue
        if steps[at] <= begin + 0.5 * stride and peak > begin:
            parts.append((rows[current:at][~dropped[current:at]], events))
            current, events = int(at), []
            continue
        old = (steps[current:at] >= steps[at]) & ~dropped[current:at]
        dropped[current:at] |= old
        text = f"resumed at {steps[at]:g} after reaching {peak:g}; {int(old.sum())} rows superseded"
        events.append(Event("resume", text, float(steps[at])))
    parts.append((rows[current:][~dropped[current:]], events))
    return parts


def merge(logs: Iterable[Log]) -> Log | None:
    """Several logs of one run as one: columns side by side."""
    whole: Log | None = None
    for log in logs:
        if whole is None:
            whole = log
            continue
        whole.columns += log.columns
        whole.config.update(log.config)
        whole.events += log.events
        whole.notes += log.notes
    return whole
