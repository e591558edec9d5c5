"""What a recorded script printed: read as a text log, each value at the step it was printed at."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from traindx.core import names
from traindx.core.nouns import Event, FloatArray, IntArray, Unreadable
from traindx.logs.assemble import candidate
from traindx.logs.log import Column, Log
from traindx.logs.log_file import MemoryFile
from traindx.logs.recordings import PrintedPiece
from traindx.logs.text.clean import clean
from traindx.logs.text.marks import Signs
from traindx.logs.text.read import logs_of

# A line, up to what ends or redraws it.
_LINE = re.compile(rb"([^\n\r\x08]*)(?:\r\n|\n|\r|\x08+|\Z)")
_LONGEST = 16 << 10
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class ScriptColumn:
    """A column that the script itself reported, and the name it would have if it were the only one."""

    column: Column
    plain: str


@dataclass(frozen=True)
class PrintedLine:
    """A printed line and the number of the chunk that completed it."""

    text: bytes
    chunk: int


class PrintedText:
    """The text of a recording, line by line on the recorder's clock."""

    def __init__(self, output: Sequence[PrintedPiece], started: float, shown: str) -> None:
        lines = _lines(output, "out") + _lines(output, "err")
        lines.sort(key=lambda line: line.chunk)
        self.text = b"".join(line.text + b"\n" for line in lines)
        self.shown = shown
        self.starts: IntArray = np.cumsum([0, *(len(line.text) + 1 for line in lines)], dtype=np.int64)[:-1]
        chunks = [output[line.chunk] for line in lines]
        self.steps: FloatArray = np.array([np.nan if c.step is None else c.step for c in chunks])
        self.times: FloatArray = np.array([np.nan if c.t is None else c.t for c in chunks]) + started

    @cached_property
    def logs(self) -> list[Log]:
        """The trainings in the text alone, on its own axis; none when there is none."""
        if not self.text.strip():
            return []
        try:
            return [log for log in logs_of(MemoryFile(self.text, self.shown)) if log.columns]
        except Unreadable:
            return []
        except Exception:
            if os.environ.get("TRAINDX_DEBUG"):
                raise
            return []

    def columns(self) -> list[ScriptColumn]:
        """What was printed, under canonical names and on the recorder's axis."""
        by_name: dict[str, ScriptColumn] = {}
        for log in self.logs:
            placed = [self._placed(column, log) for column in log.columns]
            for script in script_columns(placed):
                before = by_name.get(script.column.canonical)
                if before is not None:
                    script = ScriptColumn(_joined_columns(before.column, script.column), script.plain)
                by_name[script.column.canonical] = script
        return list(by_name.values())

    def config(self) -> dict[str, object]:
        """Settings that were printed; of several trainings the first one's count."""
        settings: dict[str, object] = {}
        for log in self.logs:
            settings = {**log.config, **settings}
        return settings

    def events(self) -> list[tuple[Event, float]]:
        """Overflows, crashes and the like in the text, and when they were printed."""
        signs = Signs()
        signs.scan(self.text, 0)
        times: dict[Event, float] = {}
        for sign in sorted(signs.events):
            at = int(np.searchsorted(self.starts, sign.offset, side="right")) - 1
            step = float(self.steps[at])
            event = Event(sign.kind, sign.text, step if np.isfinite(step) else None, sign.data)
            times.setdefault(event, float(self.times[at]))
        return list(times.items())

    def _placed(self, column: Column, log: Log) -> Column:
        """A column at the steps its lines were printed at.

        What was printed all at once, a history after the training, keeps the count it was printed with.
        """
        if column.places is None:
            return replace(column, axis=log.axis)
        at = np.searchsorted(self.starts, column.places, side="right") - 1
        steps, times = self.steps[at], self.times[at]
        at_once = steps.size > 2 and steps[0] == steps[-1] and log.axis != "row" and np.ptp(column.steps) > 0
        if at_once or not np.isfinite(steps).all():
            return replace(column, axis=log.axis, times=times)
        return replace(column, axis=None, steps=np.maximum.accumulate(steps), times=times)


def script_columns(columns: Sequence[Column]) -> list[ScriptColumn]:
    """Columns as the script calls them, given canonical names as those of any log."""
    named_columns = names.assign([candidate(column) for column in columns], overrides={})
    return [
        ScriptColumn(replace(column, canonical=name.name, split=None), name.plain)
        for column, name in zip(columns, named_columns, strict=True)
    ]


def _lines(output: Sequence[PrintedPiece], stream: str) -> list[PrintedLine]:
    """The lines of one stream; one that was printed in pieces counts when its last piece came."""
    numbers = [number for number, chunk in enumerate(output) if chunk.stream == stream]
    texts = [output[number].text.encode("utf-8", "replace") for number in numbers]
    ends = np.cumsum([len(text) for text in texts])
    whole = b"".join(texts)
    lines = []
    at = 0
    for match in _LINE.finditer(whole):
        if match.start() == len(whole):
            break
        last = max(match.end(1) - 1, match.start())
        while at < len(numbers) - 1 and ends[at] <= last:
            at += 1
        text = clean(match[1][:_LONGEST]).replace(b"\0", b"").replace(b"\x1b", b" ")
        lines.append(PrintedLine(text.removeprefix(_BOM), numbers[at]))
    return lines


def _joined_columns(first: Column, second: Column) -> Column:
    """The same curve of two trainings in one text, one after the other."""
    if first.axis != second.axis:
        return first if first.values.size >= second.values.size else second
    times = (
        None if first.times is None or second.times is None else np.concatenate([first.times, second.times])
    )
    return replace(
        first,
        steps=np.concatenate([first.steps, second.steps]),
        values=np.concatenate([first.values, second.values]),
        times=times,
        places=None,
    )
