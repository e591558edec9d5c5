"""Lines kept at the bottom of a terminal on which another process prints.

The rows above become the terminal's scroll region, so that what is printed scrolls by as ever. Each
drawing is one write, which the kernel does not mix with those of others, and puts the cursor back.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

_SAVE, _RESTORE, _DOWN = "\x1b7", "\x1b8", "\x1bD"
_LEAST_ROWS, _LEAST_COLUMNS = 10, 40


class Status:
    """So many lines at the bottom, taken when first drawn and given back by `clear`."""

    def __init__(self, lines: int, terminal: int = 2) -> None:
        self._lines = lines
        self._terminal = terminal
        self._size: tuple[int, int] | None = None
        self._gone = False

    def width(self) -> int | None:
        """Cells there are for a line; None where the terminal is too small or gone."""
        if self._gone:
            return None
        try:
            size = os.get_terminal_size(self._terminal)
        except OSError:
            self._gone = True
            return None
        if size.lines < _LEAST_ROWS or size.columns < _LEAST_COLUMNS or self._in_background():
            self.clear()
            return None
        # The last column stays free: a cursor that waits to wrap is restored differently everywhere.
        return size.columns - 1

    def _in_background(self) -> bool:
        """Whether the terminal is a shell's now, which was told to let the training run behind it."""
        try:
            return os.tcgetpgrp(self._terminal) != os.getpgrp()
        except OSError:
            return False

    def draw(self, lines: Sequence[str]) -> None:
        """Show the lines; each must fit the width."""
        if self.width() is None:
            return
        columns, rows = os.get_terminal_size(self._terminal)
        top = rows - self._lines + 1
        text = ""
        if self._size != (columns, rows):
            text += self._room(self._size is not None)
            self._size = (columns, rows)
        text += f"{_SAVE}\x1b[1;{top - 1}r"
        for number in range(self._lines):
            line = lines[number] if number < len(lines) else ""
            text += f"\x1b[{top + number};1H\x1b[0m\x1b[2K{line}\x1b[0m"
        self._write(text + _RESTORE)

    def _room(self, again: bool) -> str:
        """Free rows below the cursor; it keeps its column and its line."""
        whole = f"{_SAVE}\x1b[r{_RESTORE}"
        room = f"{_DOWN * self._lines}\x1b[{self._lines}A"
        # What is left of lines drawn for another size stands below the cursor.
        rest = f"{_SAVE}\x1b[1E\x1b[J{_RESTORE}" if again else ""
        return whole + room + rest

    def clear(self) -> None:
        """Give the rows back, empty."""
        if self._size is None:
            return
        try:
            rows = os.get_terminal_size(self._terminal).lines
        except OSError:
            rows = self._size[1]
        self._size = None
        top = max(1, rows - self._lines + 1)
        self._write(f"{_SAVE}\x1b[r\x1b[{top};1H\x1b[J{_RESTORE}")

    def _write(self, text: str) -> None:
        try:
            os.write(self._terminal, text.encode("utf-8", "replace"))
        except OSError:
            self._gone = True
