"""One rank of a traindx recording: its lines sorted into rows, samples, events and printed output.

Whatever a line contains, nothing here raises: what is no number is a gap, what is no object is skipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from traindx.core import names
from traindx.core.documents import shallow
from traindx.core.nouns import FloatArray, IntArray
from traindx.logs.jsons import MAX_COLUMNS, Row, column_of, flatten_row, parse_line
from traindx.logs.layer_samples import LayerSamples
from traindx.logs.lines import blocks
from traindx.logs.log import Column
from traindx.logs.log_file import File
from traindx.logs.run_facts import DEEPEST
from traindx.logs.tables import as_number, fill_gaps

_STREAMS = ("out", "err")


@dataclass(frozen=True)
class RecordedEvent:
    """An event as the recorder wrote it."""

    kind: str
    text: str
    step: float | None
    t: float | None
    data: Mapping[str, object]


@dataclass(frozen=True)
class PrintedPiece:
    """What the script printed at one step."""

    stream: str
    text: str
    step: float | None
    t: float | None


@dataclass
class RecordingPart:
    """What one process recorded of one training."""

    started: float
    rows: Rows = field(default_factory=lambda: Rows())
    logged: Rows = field(default_factory=lambda: Rows())
    samples: LayerSamples = field(default_factory=LayerSamples)
    singles: set[str] = field(default_factory=set)
    events: list[RecordedEvent] = field(default_factory=list)
    output: list[PrintedPiece] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    lines: int = 0

    def _by_columns(self, values: list[object]) -> dict[str, object]:
        """A block whose columns were named before; one that does not fit them is skipped."""
        return dict(zip(self.names, values, strict=True)) if len(values) == len(self.names) else {}

    def add(self, row: Row) -> None:
        """Add one line."""
        self.lines += 1
        if isinstance(block := row.get("rows"), dict | list):
            self.rows.add(block if isinstance(block, dict) else self._by_columns(block))
            return
        if isinstance(titles := row.get("columns"), list):
            self.names = [str(name) for name in titles]
            return
        step, t = _finite(row.get("step")), _finite(row.get("t"))
        if "event" in row:
            data = row.get("data")
            event = (str(row["event"])[:80], str(row.get("text") or "")[:2000], step, t)
            self.events.append(
                RecordedEvent(*event, data if isinstance(data, dict) and shallow(data, DEEPEST) else {})
            )
        elif isinstance(titles := row.get("names"), dict):
            self.samples.rename(titles)
        elif isinstance(groups := row.get("sample"), dict):
            if single := self.samples.add(step, t, groups):
                self.singles.update(single)
                self.rows.add({**single, "t": row.get("t"), "step": row.get("step")})
        elif isinstance(logged := row.get("log"), dict):
            self.logged.add({**dict(flatten_row(logged)), "t": row.get("t"), "step": row.get("step")})
        elif streams := [stream for stream in _STREAMS if isinstance(row.get(stream), str)]:
            self.output += [PrintedPiece(stream, str(row[stream]), step, t) for stream in streams]
        else:
            self.rows.add({key: v for key, v in flatten_row(row) if not isinstance(v, list)})

    def columns(self) -> list[Column]:
        """What was recorded; `canonical` is set where the recorder itself made up the name."""
        rows = self.rows.columns(self.started)
        for column in rows:
            if column.name in self.singles or _of_the_recorder(column.name):
                column.canonical = column.name
        return rows + self.samples.columns(self.started)


class _Cells:
    """A column as it comes: its cells, and the ranges of rows they belong to."""

    __slots__ = ("begins", "ends", "values")

    def __init__(self) -> None:
        self.values: list[object] = []
        self.begins: list[int] = []
        self.ends: list[int] = []

    def rows(self) -> IntArray:
        """The row of each cell."""
        begins, ends = np.array(self.begins), np.array(self.ends)
        sizes = ends - begins
        rows: IntArray = np.arange(len(self.values)) + np.repeat(ends - np.cumsum(sizes), sizes)
        return rows


class Rows:
    """Measurements by row; a column may be missing in any of them."""

    def __init__(self) -> None:
        self._steps: list[object] = []
        self._times: list[object] = []
        self._columns: dict[str, _Cells] = {}

    def add(self, block: Mapping[str, object]) -> None:
        """A block of rows: lists have one value per row, anything else is the same in all of them."""
        if not block:
            return
        step = block.get("step")
        lists = [step] if type(step) is list else [v for v in block.values() if type(v) is list]
        count = max(map(len, lists)) if lists else 1
        begin = len(self._steps)
        end = begin + count
        self._steps += _fitted(step, count)
        self._times += _fitted(block.get("t"), count)
        for name, value in block.items():
            if value is None or name == "t" or name == "step":
                continue
            cells = self._columns.get(name)
            if cells is None:
                if len(self._columns) >= MAX_COLUMNS:
                    continue
                cells = self._columns[name] = _Cells()
            if cells.ends and cells.ends[-1] == begin:
                cells.ends[-1] = end
            else:
                cells.begins.append(begin)
                cells.ends.append(end)
            cells.values += value if type(value) is list and len(value) == count else _fitted(value, count)

    @property
    def last(self) -> tuple[float, float | None] | None:
        """The last step, and when it was."""
        for step, t in zip(reversed(self._steps), reversed(self._times), strict=True):
            number = _finite(step)
            if number is not None:
                return number, _finite(t)
        return None

    def columns(self, started: float) -> list[Column]:
        steps, times = fill_gaps(_numbers(self._steps)), _numbers(self._times) + started
        if not np.isfinite(steps).any():
            steps = np.arange(steps.size, dtype=float)
        there = np.isfinite(steps)
        columns = []
        for name, cells in self._columns.items():
            numbers = column_of(cells.values)
            if numbers is None:
                continue
            values, present = numbers
            rows = cells.rows()
            keep = there[rows] if present is None else there[rows] & present
            if not keep.all():
                rows, values = rows[keep], values[keep]
            if values.size:
                columns.append(Column(name, steps[rows], values, times[rows]))
        return columns


def parts_of(file: File) -> list[RecordingPart]:
    """The trainings in one rank's file: one, unless the script or a later start began another."""
    parts: list[RecordingPart] = [RecordingPart(0.0)]
    garbage, torn = 0, False
    for line in _lines(file):
        row = parse_line(line)
        torn = row is None
        if row is None:
            garbage += 1
        elif "recording" in row:
            started = _finite(row.get("started")) or 0.0
            if not parts[-1].lines:
                parts[-1].started = started
            elif abs(started - parts[-1].started) > 1.0:
                parts.append(RecordingPart(started))
        else:
            if row.get("event") == "new_training" and parts[-1].lines:
                parts.append(RecordingPart(parts[-1].started, names=parts[-1].names))
            parts[-1].add(row)
    if garbage - torn:
        file.note(f"{garbage - torn} line(s) are torn or no JSON objects; skipped")
    return parts


def _of_the_recorder(name: str) -> bool:
    """Whether a name is canonical already, and not one that a script gave."""
    return names.parts(name).known or name.startswith("optimizer/") or names.canonical(name) == name


def _lines(file: File) -> Iterator[bytes]:
    for block in blocks(file):
        yield from (line for line in block.split(b"\n") if line.strip())


def _fitted(value: object, count: int) -> list[object]:
    """A list of so many cells: what is missing at the end is a gap."""
    if not isinstance(value, list):
        return [value] * count
    return value if len(value) == count else value[:count] + [None] * (count - len(value))


def _numbers(cells: list[object]) -> FloatArray:
    numbers = column_of(cells) if cells else None
    if numbers is None:
        return np.full(len(cells), np.nan)
    return numbers[0]


def _finite(value: object) -> float | None:
    number = value if type(value) is float else as_number(value)
    return number if number is not None and math.isfinite(number) else None
