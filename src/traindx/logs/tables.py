"""Rows with named cells (CSV, JSON lines, histories) as logs: step column, restarts, gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from traindx.core import names
from traindx.core.nouns import Axis, BoolArray, Event, FloatArray, IntArray
from traindx.logs.log import Column, Log
from traindx.logs.segments import segments

# Values of a column and which of them were logged (None: all).
_FEWEST = 3
# A block of so many different values that stands twice was written twice.
_REPEATED = 20
Cells = tuple[FloatArray, BoolArray | None]
# How many rows there are, their columns, and the words of columns that may name a split.
RowBlock = tuple[int, dict[str, Cells], dict[str, list[str]]]
LABEL_NAMES = frozenset(
    ("mode", "split", "phase", "stage", "subset", "set", "type", "kind", "partition", "dataset")
)


@dataclass
class Table:
    """Columns of equal length. `present[name]` distinguishes a logged cell, NaN or not, from a gap.

    A column without an entry in `present` has no gaps. `labels` are the words of columns that may
    name the split of a row (`phase`: train, val).
    """

    values: dict[str, FloatArray]
    present: dict[str, BoolArray]
    labels: dict[str, list[str]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return next((int(v.size) for v in self.values.values()), 0)

    def has(self, name: str) -> BoolArray:
        mask = self.present.get(name)
        return mask if mask is not None else np.ones(self.rows, dtype=bool)


def joined(parts: Sequence[RowBlock]) -> Table:
    """Blocks of rows below each other; a column that a block lacks has gaps there."""
    table = Table({}, {})
    for title in dict.fromkeys(name for _, columns, _ in parts for name in columns):
        cells = [columns[title] if title in columns else _absent(rows) for rows, columns, _ in parts]
        values = np.concatenate([numbers for numbers, _ in cells])
        if any(mask is not None and not mask.all() for _, mask in cells):
            present = [np.ones(numbers.size, dtype=bool) if mask is None else mask for numbers, mask in cells]
            if not any(mask.any() for mask in present):
                continue
            table.present[title] = np.concatenate(present)
        table.values[title] = values
    for title in dict.fromkeys(name for *_, labels in parts for name in labels):
        table.labels[title] = [word for rows, _, labels in parts for word in labels.get(title, [""] * rows)]
    return table


def _absent(rows: int) -> Cells:
    return np.full(rows, np.nan), np.zeros(rows, dtype=bool)


def as_number(value: object) -> float | None:
    """A value of JSON or YAML as a float; None when it is not a number."""
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
    logs: list[Log] = []
    for split, members in _rows_by_split(table):
        for number, segment in enumerate(segments(steps[members])):
            if number == len(logs):
                logs.append(Log([], axis or axis_found, dict(config or {}), list(events)))
            logs[number].events += segment.events
            rows = members[segment.rows]
            half = _written_twice(table, rows, used)
            if half:
                text = f"the last {half:,} rows repeat those before them value by value; they were left out"
                logs[number].events.append(Event("repeated_rows", text, float(steps[rows[half]])))
                rows = rows[:half]
            for name, values in table.values.items():
                at = rows[table.has(name)[rows] & np.isfinite(steps[rows])]
                at = at[measured(values[at])]
                if name in used or name == times or not at.size:
                    continue
                clock = table.values[times][at] if times and times in table.values else None
                logs[number].columns.append(Column(name, steps[at], values[at], clock, split))
    return logs


def _written_twice(table: Table, rows: IntArray, counters: set[str]) -> int:
    """Half of the rows, where the second half repeats every value of the first but the counters; else 0."""
    half = rows.size // 2
    columns = [values[rows] for name, values in table.values.items() if name not in counters]
    if rows.size % 2 or not all(np.array_equal(v[:half], v[half:], equal_nan=True) for v in columns):
        return 0
    return half if any(np.unique(values[:half]).size >= _REPEATED for values in columns) else 0


def measured(values: FloatArray) -> BoolArray:
    """Which values were measured: NaN between finite ones at every n-th row stands for an empty cell."""
    finite = np.isfinite(values)
    places = np.flatnonzero(finite)
    gaps = np.diff(places)
    sparse = places.size >= _FEWEST and 2 * places.size <= values.size
    regular = sparse and gaps[0] > 1 and bool((gaps == gaps[0]).all()) and places[0] <= gaps[0]
    return finite | ~np.isnan(values) if regular else np.ones(values.size, dtype=bool)


def _rows_by_split(table: Table) -> list[tuple[str | None, IntArray]]:
    """The rows of each split when a column of words names it (`phase`: train, val), else all rows."""
    for words in table.labels.values():
        splits = np.array([names.split_of(word) for word in words])
        if len(splits) == table.rows and (splits != "").mean() > 0.5 and np.unique(splits[splits != ""]).size:
            return [(str(split) or None, np.flatnonzero(splits == split)) for split in dict.fromkeys(splits)]
    return [(None, np.arange(table.rows))]


def step_axis(table: Table, step: str | None = None) -> tuple[FloatArray, Axis, set[str]]:
    """The step of every row, what it counts, and the columns that are consumed by it.

    A counter that starts again whenever the epoch advances is joined with the epoch into one
    running count. Rows that lack the step take it from the epoch they name, or from the row before.
    """
    rows = table.rows
    if step is not None and step in table.values:
        steps = np.where(table.has(step), table.values[step], np.nan)
        return fill_gaps(steps), names.axis_of(step) or "step", {step}
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
        joined_steps = _join_epochs(steps, outer)
        if joined_steps is not None:
            steps = joined_steps
    return fill_gaps(steps), kind, used


def _counts(values: FloatArray) -> bool:
    """Whether a column could count steps: mostly finite, not negative, not always falling."""
    finite = values[np.isfinite(values)]
    if not finite.size or finite.size < 0.5 * values.size or (finite < 0).mean() > 0.5:
        return False
    moves = np.diff(finite)
    return not (moves.size >= 2 and (moves < 0).mean() > 0.9)


def _join_epochs(inner: FloatArray, outer: FloatArray) -> FloatArray | None:
    """`epoch * length + inner` when the inner counter starts again as the epoch advances."""
    where_both = np.isfinite(inner) & np.isfinite(outer)
    if where_both.sum() < 3:
        return None
    a, e = inner[where_both], outer[where_both]
    back = np.diff(a) < 0
    up = np.diff(e) > 0
    if not back.any() or (back & up).sum() < 0.8 * max(back.sum(), 1) or (back & up).sum() < 0.5 * up.sum():
        return None
    start = 1.0 if a.min() >= 1 else 0.0
    length = a.max() - start + 1
    first = float(np.floor(e.min()))
    joined_steps: FloatArray = (np.floor(outer) - first) * length + inner
    return joined_steps


def fill_gaps(steps: FloatArray) -> FloatArray:
    """Rows without a step take the step of the row before (or of the first that has one)."""
    is_finite = np.isfinite(steps)
    if is_finite.all() or not is_finite.any():
        return steps
    index = np.where(is_finite, np.arange(steps.size), -1)
    np.maximum.accumulate(index, out=index)
    index[index < 0] = int(np.flatnonzero(is_finite)[0])
    return steps[index]
