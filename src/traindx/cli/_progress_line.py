"""What commands say while trials run: lines that stay, and one that moves at the bottom of a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from traindx.cli import quiet
from traindx.cli._output import print_lines, screen
from traindx.cli._status import Status
from traindx.report.layout import fit
from traindx.report.text import lasting, visible


class Moving:
    """The moving line goes to standard error, if that is a terminal; the lines that stay do not.

    With `--quiet` there is neither, but for what is the `answer` itself.
    """

    def __init__(self) -> None:
        self.screen = screen()
        is_shown = not quiet() and sys.stderr is not None and sys.stderr.isatty()
        self._status = Status(1) if is_shown else None
        self._began = time.monotonic()

    def draw(self, text: str) -> None:
        """What runs now, and how long everything has taken."""
        width = self._status.width() if self._status is not None else None
        if self._status is not None and width is not None:
            spent = lasting(round(time.monotonic() - self._began))
            self._status.draw([fit(self.screen.plain(f"  {spent}  {visible(text)}"), width)])

    def say(self, lines: Sequence[str], *, answer: bool = False) -> None:
        self.close()
        if quiet() and not answer:
            return
        print_lines("\n".join(lines) + "\n")
        if sys.stdout is not None:
            sys.stdout.flush()

    def close(self) -> None:
        if self._status is not None:
            self._status.clear()


class ExperimentProgress:
    """Shows what experiments report: lines that stay, and one that moves; with `quiet` only that one."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._moving = Moving()
        self._screen = self._moving.screen
        self._activity = ""

    def doing(self, text: str) -> None:
        """What takes a while now."""
        self._activity = text
        self._draw()

    def close(self) -> None:
        self._moving.close()

    def _draw(self) -> None:
        self._moving.draw(self._activity or "trying")
