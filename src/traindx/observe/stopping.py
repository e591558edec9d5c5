"""Stops a training before its own end: after a number of steps, for a critical problem, or on request.

It is asked by a file `stop` in the recording's folder. Ranks that wait for each other have to stop at the
same step: the first that sees the file says in `stop-at` which one.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path

from traindx.core import files

_AGREE = 4.0
_LONGEST = 4000
# A program that catches every exception is asked so often before its process is ended.
_PATIENCE = 3


class Stopped(SystemExit):
    """The training was asked to stop: after so many steps, or because something critical was seen."""

    def __init__(self, why: str) -> None:
        super().__init__(0)
        self.why = why


class Stopping:
    """Whether, why and at which step to stop."""

    def __init__(self, folder: Path, last_step: int | None) -> None:
        self.folder = folder
        # No earlier step is the last one.
        self.at: float = inf if last_step is None else last_step
        self.reason = ""
        self.request_count = 0
        self._last_step = last_step

    def check(self, step: int, world: int, step_seconds: float) -> None:
        """Check for a request from outside."""
        if self.reason:
            return
        with contextlib.suppress(OSError, ValueError):
            why = files.head(self.folder / "stop", _LONGEST).decode().strip() or "asked to stop"
            self.at = min(self.at, self._agreed(step, step_seconds) if world > 1 else step)
            self.reason = why

    def decide(self, why: str, step: int, world: int, step_seconds: float) -> None:
        """Stop after this step. Other ranks read of it in the file, as of a request from outside."""
        if self.reason:
            return
        if world > 1:
            with contextlib.suppress(OSError), (self.folder / "stop").open("x", encoding="utf-8") as file:
                file.write(f"{why}\n")
            self.check(step, world, step_seconds)
        else:
            self.at, self.reason = min(self.at, step), why

    def why(self, step: int) -> str:
        """Why the training stops after this step."""
        reached_last = self._last_step is not None and step >= self._last_step
        return f"stopped after {step} steps, as asked" if reached_last else self.reason

    def ask(self, why: str) -> bool:
        """The training is asked to stop, from now on at every step; False when it was asked in vain."""
        self.reason, self.at = why, 0
        self.request_count += 1
        return self.request_count <= _PATIENCE

    def _agreed(self, step: int, step_seconds: float) -> int:
        """A step that no rank can have reached yet."""
        path = self.folder / "stop-at"
        ahead = step + 2 + int(_AGREE / max(step_seconds, 1e-3))
        with contextlib.suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
            file.write(str(ahead))
        return int(files.head(path, _LONGEST))


def leave(close: Callable[[str, str], None], why: str, code: int = 0) -> None:
    """End the process of a program whose exceptions end nothing, with its recording closed."""
    close("stopped", why)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)
