"""What waits to be written: rows of steps, other lines, printed text, and the names they count by."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping, Sequence

from traindx.observe.journal import Journal
from traindx.observe.printed import PrintedChunk, PrintedOutput

_NAMED_AGAIN = 100


class Pending:
    """Filled by any thread; `write` hands all of it to the journal in one piece."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []
        self.lock = threading.RLock()
        self._lines: list[str | PrintedChunk] = []
        self._printed = PrintedOutput()
        self._names: dict[str, tuple[str, ...]] = {}
        self._columns: tuple[str, ...] = ()
        self._opened = self._blocks = 0

    @property
    def cut(self) -> int:
        """Characters of the printed text that were not kept."""
        return self._printed.cut

    def line(self, values: Mapping[str, object] | str) -> None:
        """A line, as it is or to be written as JSON."""
        with self.lock:
            self._lines.append(values if isinstance(values, str) else _dumps(values))

    def text(self, stream: str, step: int, t: float, text: str) -> None:
        """What the script printed; what it prints at one step is one line."""
        if self._printed.passes(stream, text):
            return
        with self.lock:
            last = self._lines[-1] if self._lines else None
            if isinstance(last, PrintedChunk) and last.stream == stream and last.step == step:
                last.parts.append(text)
            else:
                self._lines.append(PrintedChunk(stream, step, t, [text]))

    def end(self) -> None:
        """Nothing more is printed."""
        last = self._printed.last()
        if last is not None:
            with self.lock:
                self._lines.append(last)

    def names(self, group: str, names: Sequence[str]) -> None:
        """What the lists of later samples of a group count by."""
        if self._names.get(group) != tuple(names):
            self._names[group] = tuple(names)
            self.line({"names": {group: list(names)}})

    def forget_names(self) -> None:
        """They are written again before they are used."""
        self._names.clear()

    def forget(self) -> None:
        """In a forked child: all of this is the parent's."""
        self.lock = threading.RLock()
        self.rows, self._lines, self._columns = [], [], ()
        self.forget_names()

    def write(self, journal: Journal) -> int:
        """Everything in one write; how many earlier lines were lost, once that can be written."""
        waiting, self._lines = self._lines, []
        rows, self.rows = self.rows, []
        lines = self._row_lines(rows, journal) if rows else []
        lines += [line if isinstance(line, str) else self._printed_line(line) for line in waiting]
        lines = [line for line in lines if line]
        if not lines:
            return 0
        dropped = journal.dropped
        if not journal.append(("\n".join(lines) + "\n").encode("utf-8", "replace")):
            self._columns = ()
            self.forget_names()
            return 0
        journal.dropped = 0
        return dropped

    def _row_lines(self, rows: list[dict[str, object]], journal: Journal) -> list[str]:
        """One line, and before it the names of its columns when they are not those of the line before."""
        names, line = block(rows)
        self._blocks += 1
        same_columns = names == self._columns and journal.opened == self._opened
        if same_columns and self._blocks % _NAMED_AGAIN:
            return [line]
        again = [_dumps({"names": {group: listed}}) for group, listed in self._names.items()]
        head = again if journal.opened != self._opened and self._opened else []
        self._columns, self._opened = names, journal.opened
        return [*head, _dumps({"columns": names}), line]

    def _printed_line(self, chunk: PrintedChunk) -> str:
        text = self._printed.text_of(chunk)
        # By hand: a script that prints at every step prints by the thousand.
        printed = f'"{chunk.stream}":{json.dumps(text)}'
        return f'{{"t":{chunk.t:.7g},"step":{chunk.step},{printed}}}' if text else ""


def _dumps(line: Mapping[str, object]) -> str:
    return json.dumps(_plain(line), separators=(",", ":"), default=str)


def _plain(value: object) -> object:
    """Floats at seven digits, mappings and sequences through."""
    if isinstance(value, float):
        return float(f"{value:.7g}") if math.isfinite(value) else value
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def block(rows: Sequence[dict[str, object]]) -> tuple[tuple[str, ...], str]:
    """The names of the columns, and the rows as one line; a column that never changes is one value."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    columns = (_column(name, [row.get(name) for row in rows]) for name in names)
    return tuple(names), '{"rows":[' + ",".join(columns) + "]}"


def sample(t: float, step: int, groups: Mapping[str, Mapping[str, object]]) -> str:
    """A sampled step as a line. Four digits: most of it is estimated from parts of tensors."""
    line = ",".join(f"{json.dumps(name)}:{_group(group)}" for name, group in groups.items())
    return f'{{"t":{t:.3f},"step":{step},"sample":{{{line}}}}}'


def _group(group: Mapping[str, object]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{_group_value(value)}" for name, value in group.items()) + "}"


def _group_value(value: object) -> str:
    return _listed(value, "%.4g") if isinstance(value, list) else _value(value, "%.5g")


def _column(name: str, values: Sequence[object]) -> str:
    form = "%.3f" if name == "t" else "%d" if name == "step" else "%.3g" if name.endswith("_s") else "%.7g"
    first = values[0]
    changes = name in ("t", "step") or len(values) == 1 or first is None
    if not changes and values.count(first) == len(values):
        return _value(first, form)
    return _listed(values, form)


def _listed(values: Sequence[object], form: str) -> str:
    try:
        # One formatting call for the whole list: rows of fast steps come by the thousand.
        text = ",".join(map(form.__mod__, values))
    except TypeError:
        text = ""
    if not text or "n" in text:
        text = ",".join([_value(value, form) for value in values])
    return f"[{text}]"


def _value(value: object, form: str) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        return form % value if math.isfinite(value) else json.dumps(value)
    return str(value) if type(value) is int else json.dumps(value, default=str)
