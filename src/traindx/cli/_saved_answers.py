"""The answers of an interview in a file, so that nothing is lost when it breaks off."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.cli import say
from traindx.cli._output import writing
from traindx.core.free_names import numbered
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.interview.session import Interview


def on_a_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


class Kept:
    """The answers in a file: as they come when --save was given, and whenever the interview breaks off."""

    def __init__(self, interview: Interview, save: str | None, plan: str, started_from: list[str]) -> None:
        self._interview = interview
        self._save = save
        self.plan = plan
        self._started_from = started_from

    def now(self) -> None:
        if self._save is not None and self._any():
            self._write(self._save)

    def at_the_break(self) -> None:
        """Ctrl-C: nothing is lost, and how to go on is said."""
        if not self._any():
            return
        place = self._save or _free_name()
        self._write(place)
        say("")
        say(f"The answers so far are kept in {place}.")
        say(f"Go on with: {self._again(place)}")

    def at_the_end(self) -> None:
        """The input ended: the diagnosis follows, and the questions that are left can be taken up again."""
        if not self._any():
            return
        if self._save is None and not on_a_terminal():
            say("")
            say("The input ended: this is the diagnosis of the answers so far.")
            return
        self.at_the_break()

    def _any(self) -> bool:
        return bool(self._interview.symptoms or self._interview.answers)

    def _again(self, place: str) -> str:
        import shlex

        parts = ["traindx", "ask", *self._started_from[:1], "--answers", place]
        return " ".join(visible(shlex.quote(part)) for part in parts)

    def _write(self, place: str) -> None:
        from traindx.interview.answer_files import document, written

        data = document(self._interview, plan=self.plan, started_from=self._started_from)
        with writing(place), open(place, "wb") as file:
            file.write(written(data, place).encode("utf-8", "replace"))


def _free_name() -> str:
    """A name in this folder, or in the one for temporary files, that nothing has yet."""
    import tempfile

    for folder in (os.curdir, tempfile.gettempdir()):
        if not os.access(folder, os.W_OK):
            continue
        for path in numbered(Path(folder, "traindx-answers"), ".toml"):
            with contextlib.suppress(FileExistsError), open(path, "x", encoding="utf-8"):
                return str(path)
    return os.path.join(tempfile.mkdtemp(prefix="traindx-"), "traindx-answers.toml")
