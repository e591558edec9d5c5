"""The newest numbers of a recording that is being written, read from its end on."""

from __future__ import annotations

import math
import time
from collections import deque
from pathlib import Path
from typing import Any

from traindx.core import files
from traindx.core.documents import json_of

_MOST = 1 << 20
_KEPT = 1 << 16
_WINDOW = 5.0


class Tail:
    """The latest value of each series of the first process that steps, and the pace of the last seconds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.latest: dict[str, float] = {}
        self.grown = False
        self._path: Path | None = None
        self._offset = 0
        self._torn = b""
        self._columns: list[str] = []
        self._pace: deque[tuple[float, int, float, float]] = deque()

    @property
    def step(self) -> int:
        return int(self.latest.get("step", 0))

    def poll(self) -> None:
        """Take in what was written since the last time."""
        if not self.step:
            self._path = self._first()
        if self._path is None:
            return
        for line in self._new_lines(self._path):
            if line.startswith((b'{"rows"', b'{"columns"', b'{"t"')):
                try:
                    self._take(json_of(line))
                except ValueError:
                    continue

    def _first(self) -> Path | None:
        """The process with the lowest number that has done a step, else the lowest."""
        try:
            paths = sorted(self.folder.glob("rank-*.jsonl"), key=lambda path: (len(path.name), path.name))
        except OSError:
            return None
        for path in paths:
            if path != self._path and self._has_rows(path):
                self._offset, self._torn = 0, b""
                return path
        return self._path or next(iter(paths), None)

    def _has_rows(self, path: Path) -> bool:
        try:
            return b'{"rows"' in files.head(path, _KEPT)
        except OSError:
            return False

    def _new_lines(self, path: Path) -> list[bytes]:
        try:
            size = path.stat().st_size
            if size < self._offset:
                self._offset, self._torn = 0, b""
            if size == self._offset:
                return []
            self.grown = True
            with files.opened(path) as file:
                if size - self._offset > _MOST:
                    self._offset, self._torn = size - _KEPT, b""
                file.seek(self._offset)
                new = file.read(_MOST)
        except OSError:
            return []
        self._offset += len(new)
        *lines, self._torn = (self._torn + new).split(b"\n")
        return lines

    def _take(self, line: dict[str, Any]) -> None:
        if "columns" in line:
            self._columns = [str(name) for name in line["columns"]]
            return
        rows = line.get("rows")
        if isinstance(rows, list):
            rows = dict(zip(self._columns, rows, strict=True)) if len(rows) == len(self._columns) else {}
        if rows is None:
            if not line.keys() & {"sample", "event", "out", "err"}:
                self._keep(line)
            return
        count = len(rows["step"]) if isinstance(rows.get("step"), list) else 1
        self._keep({name: _last(column) for name, column in rows.items()})
        took = _sum(rows.get("step_s"), count)
        if took > 0:
            self._pace.append((time.monotonic(), count, took, _sum(rows.get("data_wait_s"), count)))
        while self._pace and self._pace[0][0] < time.monotonic() - _WINDOW and len(self._pace) > 1:
            self._pace.popleft()

    def _keep(self, row: dict[str, Any]) -> None:
        for name, value in row.items():
            if isinstance(value, int | float):
                self.latest[name] = float(value)

    @property
    def step_seconds(self) -> float | None:
        steps = sum(count for _, count, _, _ in self._pace)
        return sum(took for _, _, took, _ in self._pace) / steps if steps else None

    @property
    def data_wait(self) -> float | None:
        """Share of the time that was spent waiting for data."""
        took = sum(took for _, _, took, _ in self._pace)
        return sum(waited for _, _, _, waited in self._pace) / took if took else None


def _last(column: Any) -> Any:
    if not isinstance(column, list):
        return column
    return next((value for value in reversed(column) if value is not None), None)


def _sum(column: Any, count: int) -> float:
    if isinstance(column, list):
        return math.fsum(v for v in column if isinstance(v, int | float) and math.isfinite(v))
    return float(column) * count if isinstance(column, int | float) and math.isfinite(column) else 0.0
