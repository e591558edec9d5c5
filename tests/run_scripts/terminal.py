"""A small terminal: enough of a VT100 to see what is on the screen and what has scrolled away."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_CONTROL = re.compile(r"\x1b(?:\[(?P<numbers>[?\d;]*)(?P<final>[@-~])|(?P<single>[78DMc]))")


class Terminal:
    """Rows of characters, a cursor, a scroll region and the lines that left it at the top."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.screen = [[" "] * columns for _ in range(rows)]
        self.gone: list[str] = []
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1
        self._saved = (0, 0)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""

    def feed(self, data: bytes) -> None:
        self._text += self._decoder.decode(data)
        while self._text:
            if self._text[0] == "\x1b":
                found = _CONTROL.match(self._text)
                if found is None:
                    if len(self._text) < 16:
                        return
                    raise AssertionError(f"unknown: {self._text[:16]!r}")
                self._text = self._text[found.end() :]
                self._control(found)
            else:
                letter, self._text = self._text[0], self._text[1:]
                self._put(letter)

    def _put(self, letter: str) -> None:
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self._down()
        elif letter.isprintable():
            if self.column == self.columns:
                self.column = 0
                self._down()
            self.screen[self.row][self.column] = letter
            self.column += 1

    def _down(self) -> None:
        if self.row == self.bottom:
            line = self.screen.pop(self.top)
            if self.top == 0:
                self.gone.append("".join(line).rstrip())
            self.screen.insert(self.bottom, [" "] * self.columns)
        elif self.row < self.rows - 1:
            self.row += 1

    def _control(self, found: re.Match[str]) -> None:
        if found["single"]:
            if found["single"] == "7":
                self._saved = (self.row, self.column)
            elif found["single"] == "8":
                self.row, self.column = self._saved
            else:
                assert found["single"] == "D", found[0]
                self._down()
            return
        numbers = [int(part) if part.isdigit() else 0 for part in found["numbers"].split(";")]
        first = numbers[0]
        final = found["final"]
        if final == "r":
            self.top = max(first, 1) - 1
            self.bottom = (numbers[1] if len(numbers) > 1 and numbers[1] else self.rows) - 1
            self.row = self.column = 0
        elif final == "H":
            self.row = min(max(first, 1), self.rows) - 1
            self.column = (numbers[1] if len(numbers) > 1 and numbers[1] else 1) - 1
        elif final == "A":
            self.row = max(self.row - max(first, 1), 0)
        elif final == "E":
            self.row, self.column = min(self.row + max(first, 1), self.rows - 1), 0
        elif final == "K":
            start = 0 if first == 2 else self.column
            self.screen[self.row][start:] = [" "] * (self.columns - start)
        elif final == "J":
            assert first == 0
            self.screen[self.row][self.column :] = [" "] * (self.columns - self.column)
            for row in range(self.row + 1, self.rows):
                self.screen[row] = [" "] * self.columns
        else:
            assert final == "m", found[0]

    def resize(self, rows: int, columns: int) -> None:
        """Like xterm: the margins go, lines leave at the top when the cursor would be cut off."""
        while self.row >= rows:
            self.gone.append("".join(self.screen.pop(0)).rstrip())
            self.row -= 1
        self.screen = [line[:columns] + [" "] * (columns - len(line)) for line in self.screen[:rows]]
        self.screen += [[" "] * columns for _ in range(rows - len(self.screen))]
        self.rows, self.columns = rows, columns
        self.top, self.bottom = 0, rows - 1

    def lines(self) -> list[str]:
        """What is on the screen, without what is empty below."""
        return "\n".join("".join(line).rstrip() for line in self.screen).rstrip().split("\n")

    def everything(self) -> list[str]:
        return self.gone + self.lines()


class Session:
    """A command with a terminal of its own; what stands on it can be waited for."""

    def __init__(self, words: Sequence[object], folder: Path, rows: int = 24, columns: int = 80) -> None:
        self.terminal = Terminal(rows, columns)
        self.raw = b""
        self._master, slave = pty.openpty()
        self.size(rows, columns)
        variables = {k: v for k, v in os.environ.items() if k not in ("CI", "COLUMNS", "LINES", "NO_COLOR")}
        self.process = subprocess.Popen(
            [str(word) for word in words],
            cwd=folder,
            env={**variables, "TERM": "xterm"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def size(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if (rows, columns) != (self.terminal.rows, self.terminal.columns):
            self.terminal.resize(rows, columns)

    def until(self, seen: Callable[[Terminal], bool], seconds: float = 20) -> None:
        """Read until the screen is as wished."""
        end = time.monotonic() + seconds
        while not seen(self.terminal):
            assert time.monotonic() < end, "\n".join(self.terminal.everything())
            assert self._read(0.1), "\n".join(self.terminal.everything())

    def to_the_end(self) -> None:
        """Read until nobody has the terminal any more."""
        end = time.monotonic() + 30
        while self._read(0.5):
            assert time.monotonic() < end
        self.process.wait(5)
        os.close(self._master)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux says so when the last one has left
            return False
        self.raw += data
        self.terminal.feed(data)
        return bool(data)
