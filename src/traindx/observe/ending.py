"""How a program ended, and the traceback it would have shown without us."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType

from traindx.core.tracebacks import MESSAGE_LONGEST, CodeLine, Traceback, frames_in, own_frames
from traindx.observe.recorder import Stopped

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LONGEST = 300
_LED_TO_IT = 4


def how_it_ended(error: BaseException | None) -> tuple[str, str]:
    """How it ended, and one line about it."""
    if error is None:
        return "finished", ""
    if isinstance(error, Stopped):
        return "stopped", error.why
    if isinstance(error, SystemExit):
        if error.code is None or error.code == 0:
            return "finished", ""
        return "exit", _line(f"exit code {error.code}" if isinstance(error.code, int) else str(error.code))
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", "KeyboardInterrupt"
    return "exception", _line(f"{type(error).__name__}: {_text(error)}")


def crash_of(error: BaseException | None) -> dict[str, object]:
    """Of an exception that ended the program: its kind, its whole message, the program's own frames."""
    if how_it_ended(error)[0] != "exception" or error is None:
        return {}
    try:
        summary = traceback.extract_tb(error.__traceback__)
        frames = [CodeLine(frame.filename, frame.lineno or 0, frame.name) for frame in summary]
        message, earlier = _text(error), error.__cause__ or error.__context__
        for _ in range(_LED_TO_IT):
            if earlier is None:
                break
            message += f"\n{type(earlier).__name__}: {_text(earlier)}"
            earlier = earlier.__cause__ or earlier.__context__
        own_lines = [frame for frame in frames if not frame.file.startswith(_OURS)]
        own_lines += frames_in(_text(error))
        return Traceback(type(error).__name__, message[:MESSAGE_LONGEST], own_frames(own_lines)).data()
    except Exception:
        return {}


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its message cannot be shown)"


def _line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:_LONGEST]


def show_without_us(error: BaseException) -> None:
    """Make the interpreter show an uncaught exception with the program's own frames only.

    Not for `SystemExit`, which is shown to no hook: ours would stay, and keep the program's objects alive.
    The exception goes its way; whatever `sys.excepthook` the program has set is called as ever.
    """
    hook = getattr(sys, "excepthook", None)
    if hook is None or os.environ.get("TRAINDX_DEBUG"):
        return
    first = _program_frames(error.__traceback__)

    def once(kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
        sys.excepthook = hook
        if value is error:
            _clean(value, set())
            traceback = value.__traceback__ = sys.last_traceback = first
        try:
            hook(kind, value, traceback)
        except SystemExit:
            raise
        except BaseException as failure:
            _show_both(failure, value)

    sys.excepthook = once


def _show_both(failure: BaseException, value: BaseException) -> None:
    """What the interpreter shows when the program's own hook fails."""
    for title, error in (("Error in sys.excepthook:", failure), ("\nOriginal exception was:", value)):
        sys.stderr.write(f"{title}\n")
        error.__traceback__ = _without_ours(error.__traceback__)
        sys.__excepthook__(type(error), error, error.__traceback__)


def _program_frames(traceback: TracebackType | None) -> TracebackType | None:
    """From the program's outermost frame on: ours, and what started us, come before it."""
    inner = traceback
    while inner is not None:
        ours = inner.tb_frame.f_code.co_filename == f"{_OURS}program.py"
        inner = inner.tb_next
        if ours and (inner is None or not inner.tb_frame.f_code.co_filename.startswith(_OURS)):
            return _without_ours(inner)
    return None


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """The same frames but for those of our own functions that the program called unknowingly."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(_OURS):
        traceback = traceback.tb_next
    outer = traceback
    while outer is not None and outer.tb_next is not None:
        if outer.tb_next.tb_frame.f_code.co_filename.startswith(_OURS):
            outer.tb_next = outer.tb_next.tb_next
        else:
            outer = outer.tb_next
    return traceback


def _clean(error: BaseException, visited: set[int]) -> None:
    """The exceptions that led to it, too."""
    for related in (error.__cause__, error.__context__, *getattr(error, "exceptions", ())):
        if related is not None and id(related) not in visited:
            visited.add(id(related))
            related.__traceback__ = _without_ours(related.__traceback__)
            _clean(related, visited)
