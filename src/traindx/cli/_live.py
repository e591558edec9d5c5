"""While the training runs: its numbers at the bottom of the terminal, and a look at what is wrong so far."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.cli._output import screen
from traindx.cli._status import Status
from traindx.cli._tail import Tail
from traindx.observe.monitor import Orders
from traindx.report.layout import fit
from traindx.report.text import short, visible

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis

# A look may take one part in so many of the time; the first comes when there is something to see.
_SPARE = 100
_FIRST, _SOONEST, _AGAIN = 8.0, 10.0, 2.0


class Live:
    """Called twice a second."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._folder = Path(orders.folder)
        self._tail = Tail(self._folder)
        self._status = Status(2) if orders.live else None
        self._screen = screen()
        self._began = time.monotonic()
        self._next = self._began + _FIRST
        self._problem_lines: list[tuple[str, str]] | None = None
        self._critical: str | None = None
        self._stopped = False

    def beat(self) -> None:
        """Read on, look when it is time, draw."""
        self._tail.poll()
        if time.monotonic() >= self._next and self._tail.grown:
            self._look()
        width = self._status.width() if self._status is not None else None
        if self._status is not None and width is not None:
            self._status.draw([self._numbers(width), self._judgement(width)])

    def close(self) -> None:
        if self._status is not None:
            self._status.clear()

    # What looks wrong so far.

    def _look(self) -> None:
        began = time.process_time()
        self._tail.grown = alarm = False
        with contextlib.suppress(Exception):
            diagnosis = _diagnosis(self._folder)
            self._problem_lines = _wrong(diagnosis)
            alarm = self._orders.stop_on_critical and self._is_first_alarm(diagnosis)
        spent = time.process_time() - began
        self._next = time.monotonic() + (_AGAIN if alarm else max(_SOONEST, _SPARE * spent))

    def _is_first_alarm(self, diagnosis: Diagnosis) -> bool:
        """Stop the training when something critical is seen twice running: a first sight may pass."""
        from traindx.report.wording import sentence

        critical = [problem for problem in diagnosis.problems if problem.severity == "critical"]
        if not critical or self._stopped:
            self._critical = None
            return False
        if self._critical != critical[0].symptom:
            self._critical = critical[0].symptom
            return True
        reason = f"stopped on a critical problem: {sentence(critical[0], diagnosis.run)}"
        scratch = self._folder / ".stop"
        scratch.write_text(f"{visible(reason, 300)}\n", encoding="utf-8")
        os.replace(scratch, self._folder / "stop")
        self._stopped = True
        return False

    # The lines.

    def _numbers(self, width: int) -> str:
        tail, latest = self._tail, self._tail.latest
        if not tail.step:
            parts = [_clock(time.monotonic() - self._began), "no step yet"]
        else:
            parts = [f"step {tail.step:,}"]
            series_labels = (
                ("loss", "loss"),
                ("val/loss", "val loss"),
                ("lr", "lr"),
                ("grad_norm", "grad norm"),
            )
            parts += [f"{word} {short(latest[name])}" for name, word in series_labels if name in latest]
            if tail.step_seconds is not None:
                parts.append(f"{_duration(tail.step_seconds)}/step")
            if tail.data_wait is not None:
                parts.append(f"data wait {100 * tail.data_wait:.0f} %")
        text = fit(self._screen.plain("  ".join(parts)), width - 9)
        return self._screen.paint("traindx", "title") + "  " + text

    def _judgement(self, width: int) -> str:
        room = width - 9
        if self._problem_lines is None:
            return " " * 9 + self._screen.paint("too early to judge", "dim")
        if not self._problem_lines:
            return " " * 9 + self._screen.paint("nothing wrong so far", "green")
        (severity, text), *further = self._problem_lines
        suffix = f" (and {len(further)} more)" if further else ""
        style = {"critical": "alarm", "high": "red", "medium": "yellow"}.get(severity, "dim")
        headline = fit(self._screen.plain(visible(text, 300)), room - len(suffix) - len(severity) - 2)
        return " " * 9 + self._screen.paint(severity, style) + "  " + headline + suffix


def _diagnosis(folder: Path) -> Diagnosis:
    from traindx.engine import diagnose, read

    return diagnose(read(folder).runs[-1])


def _wrong(diagnosis: Diagnosis) -> list[tuple[str, str]] | None:
    """Problems that call for action, with their severity; None while there is too little to go by."""
    from traindx.report.wording import acted_on, sentence

    if diagnosis.verdict == "insufficient_evidence":
        return None
    return [(problem.severity, sentence(problem, diagnosis.run)) for problem in acted_on(diagnosis)]


def _duration(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
