"""The clock: a wrong one spoils the order of logs and checkpoints and every secure connection."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator

from traindx.doctor.line import DoctorLine, Surroundings

SUBJECT = "clock"
_DAY = 86400.0
_SKEW, _SLOW_CALL = 2.0, 2e-6


def lines(place: Surroundings) -> Iterator[DoctorLine]:
    now = time.time()
    now_text = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    installed = max(os.stat(path).st_mtime for path in (sys.executable, __file__))
    if now < installed - _DAY:
        days = (installed - now) / _DAY
        fact = f"It is {now_text}, {days:.0f} days before traindx was installed."
        advice = "Set the clock: newer checkpoints would count as older, and downloads fail."
        yield DoctorLine("clock", SUBJECT, "problem", fact, advice, {"days": days})
    else:
        yield DoctorLine("clock", SUBJECT, "ok", f"It is {now_text}.")
    skew = _skew(place)
    if skew is not None and abs(skew) > _SKEW:
        side = "later" if skew > 0 else "earlier"
        fact = f"Files written here are dated {abs(skew):.0f} s {side} than the clock."
        advice = "The file server has another clock: logs of several machines cannot be ordered by time."
        yield DoctorLine("clock_of_files", SUBJECT, "note", fact, advice, {"seconds": skew})
    cost = _cost()
    if cost > _SLOW_CALL:
        fact = f"To ask for the time takes {1e6 * cost:.1f} microseconds."
        yield DoctorLine("clock_cost", SUBJECT, "note", fact, "Timing every step costs more than usual here.")


def _skew(place: Surroundings) -> float | None:
    try:
        with tempfile.NamedTemporaryFile(prefix=".traindx-doctor-", dir=place.folder) as file:
            file.write(b"x")
            file.flush()
            return os.fstat(file.fileno()).st_mtime - time.time()
    except OSError:
        return None


def _cost(calls: int = 2000) -> float:
    """Seconds a question for the time takes: the best of three, because others compute, too."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(calls):
            time.time()
        best = min(best, (time.perf_counter() - start) / calls)
    return best
