"""One rank of a traindx recording: its lines sorted into rows, samples, events and printed output.

Whatever a line holds, nothing here raises: what is no number is a gap, what is no object is passed over.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from traindx.core import names
from traindx.core.documents import shallow
from traindx.logs.jsons import MAX_COLUMNS, Row, column_of, flatten_row, parse_line
from traindx.logs.layer_samples import Samples
from traindx.logs.lines import blocks
from traindx.logs.log import Column
from traindx.logs.run_facts import DEEPEST
from traindx.logs.tables import as_number, fill_gaps

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray, IntArray
    from traindx.logs.log_file import File

_STREAMS = ("out", "err")


@dataclass(frozen=True)
class Moment:
    """Something that happened, as the recorder told it."""

    kind: str
    text: str
    step: float | None
    t: float | None
    data: Mapping[str, object]


@dataclass(frozen=True)
class Chunk:
    """What the script printed at one step."""

    stream: str
    text: str
    step: float | None
    t: float | None


@dataclass
class Part:
    """What one process told of one training."""

    started: float
    rows: Rows = field(default_factory=lambda: Rows())
    logged: Rows = field(default_factory=lambda: Rows())
    samples: Samples = field(default_factory=Samples)
    singles: set[str] = field(default_factory=set)
    events: list[Moment] = field(default_factory=list)
    output: list[Chunk] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    lines: int = 0

    def _by_columns(self, values: list[object]) -> dict[str, object]:
        """A block whose columns were named before; one that does not fit them is passed over."""
        return dict(zip(self.names, values, strict=True)) if len(values) == len(self.names) else {}

    def add(self, row: Row) -> None:
        """Take one line."""
        self.lines += 1
        if isinstance(block := row.get("rows"), dict | list):
            self.rows.add(block if isinstance(block, dict) else self._by_columns(block))
            return
        if isinstance(named := row.get("columns"), list):
            self.names = [str(name) for name in named]
            return
        step, t = _finite(row.get("step")), _finite(row.get("t"))
        if "event" in row:
            data = row.get("data")
            told = (str(row["event"])[:80], str(row.get("text") or "")[:2000], step, t)
            self.events.append(
                Moment(*told, data if isinstance(data, dict) and shallow(data, DEEPEST) else {})
            )
        elif isinstance(named := row.get("names"), dict):
            self.samples.rename(named)
        elif isinstance(groups := row.get("sample"), dict):
            if single := self.samples.add(step, t, groups):
                self.singles.update(single)
                self.rows.add({**single, "t": row.get("t"), "step": row.get("step")})
        elif isinstance(said := row.get("log"), dict):
            self.logged.add({**dict(flatten_row(said)), "t": row.get("t"), "step": row.get("step")})
        elif streams := [stream for stream in _STREAMS if isinstance(row.get(stream), str)]:
            self.output += [Chunk(stream, str(row[stream]), step, t) for stream in streams]
        else:
            self.rows.add({key: v for key, v in flatten_row(row) if not isinstance(v, list)})

    def columns(self) -> list[Column]:
        """What was recorded; `given` is set where the recorder itself made up the name."""
        rows = self.rows.columns(self.started)
        for column in rows:
            if column.name in self.singles or _of_the_recorder(column.name):
                column.given = column.name
        return rows + self.samples.columns(self.started)


class _Cells:
    """A column as it comes: its cells, and the stretches of rows they stand in."""

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
        made = []
        for name, cells in self._columns.items():
            found = column_of(cells.values)
            if found is None:
                continue
            values, present = found
            rows = cells.rows()
            keep = there[rows] if present is None else there[rows] & present
            if not keep.all():
                rows, values = rows[keep], values[keep]
            if values.size:
                made.append(Column(name, steps[rows], values, times[rows]))
        return made


def parts_of(file: File) -> list[Part]:
    """The trainings in one rank's file: one, unless the script or a later start began another."""
    found: list[Part] = [Part(0.0)]
    garbage, torn = 0, False
    for line in _lines(file):
        row = parse_line(line)
        torn = row is None
        if row is None:
            garbage += 1
        elif "recording" in row:
            started = _finite(row.get("started")) or 0.0
            if not found[-1].lines:
                found[-1].started = started
            elif abs(started - found[-1].started) > 1.0:
                found.append(Part(started))
        else:
            if row.get("event") == "new_training" and found[-1].lines:
                found.append(Part(found[-1].started, names=found[-1].names))
            found[-1].add(row)
    if garbage - torn:
        file.note(f"{garbage - torn} line(s) are torn or no JSON objects; passed over")
    return found


def _of_the_recorder(name: str) -> bool:
    """Whether a name is canonical as it stands, and not one that a script gave."""
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
    found = column_of(cells) if cells else None
    if found is None:
        return np.full(len(cells), np.nan)
    return found[0]


def _finite(value: object) -> float | None:
    number = value if type(value) is float else as_number(value)
    return number if number is not None and math.isfinite(number) else None
