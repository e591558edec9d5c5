"""The recorder of this process: what the probes hand it becomes lines of the recording.

It knows nothing of any framework. Nothing here raises into the training, but for `Stopped`, which is
asked for.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import get_ident
from typing import NoReturn

from traindx.observe.budget import Budget
from traindx.observe.clock import crowding, perf_counter, wall_clock
from traindx.observe.facts_file import FactsFile
from traindx.observe.journal import Journal
from traindx.observe.pending import Pending, sample
from traindx.observe.signals import let_through, raised_by_handler
from traindx.observe.stopping import Stopped as Stopped
from traindx.observe.stopping import Stopping

_FLUSH = 0.25
# Seconds that writing printed lines at once may take: from the start, and of the budget.
_AT_ONCE, _AT_ONCE_SHARE = 0.01, 0.2
_STOP_CHECK_EVERY = 1.0
_EVENTS_OF_A_KIND = 50
_ROWS_WHOLE = 100_000
_SAMPLE_BYTES = 900_000
_SAMPLES_DENSE = 1_000
# A probe in which a signal handler of the program raised so often takes too long for it.
_INTERRUPTED_MOST = 3

_current: Recorder | None = None
_awaiting: list[Callable[[Recorder], None]] = []


class Recorder(FactsFile):
    """Lines of one process, written about four times a second while something happens."""

    def __init__(
        self,
        folder: Path,
        rank: int,
        *,
        name: str,
        budget: float,
        internals: bool,
        steps: int | None,
        stop_on_critical: bool = False,
    ) -> None:
        self.folder = folder
        self.rank = rank
        self.started = wall_clock()
        super().__init__(name or folder.name, self.started)
        self.step = 0
        self.internals = internals and budget > 0
        self.budget = Budget(budget)
        self.journal = Journal(folder, rank, self.started)
        self.off: set[str] = set()
        self.before_flush: list[Callable[[list[dict[str, object]]], None]] = []
        self.before_close: list[Callable[[], None]] = []
        # Ends the process of a program that catches what is to stop it; None where that must not be.
        self.insist: Callable[[str], None] | None = None
        self._zero = perf_counter()
        self._lost_lines = 0
        self._pending = Pending()
        self._last_row = 0
        self._events: dict[str, int] = {}
        self._interrupted: dict[str, int] = {}
        self._sample_size = 0.0
        self._next_sample = 0
        self._flushed = 0.0
        self._writing = 0
        self._at_once = 0.0
        self._stop_checked_at = 0.0
        self._stopping = Stopping(folder, steps)
        # Whether it is to end before its own end at all.
        self.stops = steps is not None
        self.stop_on_critical = stop_on_critical
        self.world = 1
        # The framework that trains and what is seen of it, where that is worth a line.
        self.framework = ""
        # How often the script has printed.
        self.printed = 0
        self.closed = False

    # What the probes call.

    def now(self) -> float:
        """Seconds since the recording began."""
        return perf_counter() - self._zero

    def since(self, moment: float) -> float:
        """A moment of the performance counter as seconds since the recording began."""
        return moment - self._zero

    def push(self, values: dict[str, object]) -> None:
        """Add the row of the step that just ended. Long runs keep fewer rows, but never lose a NaN."""
        step = values.get("step", self.step)
        assert isinstance(step, int)
        if 0 < step - self._last_row < self._thinned():
            loss = values.get("loss")
            if not isinstance(loss, float) or math.isfinite(loss):
                return
        self._last_row = step
        values.setdefault("t", self.now())
        values.setdefault("step", step)
        self._pending.rows.append(values)

    def spacing(self) -> int:
        """Steps from one row to the next: more than one where each would cost or take too much."""
        return max(self.budget.stride, self._thinned())

    def _thinned(self) -> int:
        return 1 if self.step < _ROWS_WHOLE else 1 << (self.step // _ROWS_WHOLE).bit_length()

    def row(self, values: Mapping[str, float | None], step: int | None = None) -> None:
        """Numbers at the present step, or another, that are not part of its row."""
        if values:
            at = self.step if step is None else step
            self._pending.line({"t": self.now(), "step": at, **values})

    def log(self, values: Mapping[str, float], step: float | None = None) -> None:
        """Numbers of the script's own, at the present step or the one it names."""
        at = self.step if step is None else step
        self._pending.line({"t": self.now(), "step": at, "log": values})

    def may_sample(self) -> bool:
        """Whether the size of the recording allows another sample by now."""
        return self.internals and self.step >= self._next_sample

    def sample(self, groups: Mapping[str, Mapping[str, object]]) -> None:
        """A sampled step. The larger a sample is, the sooner samples become rare."""
        line = sample(self.now(), self.step, groups)
        self._pending.line(line)
        size = len(line)
        self._sample_size = size if not self._sample_size else 0.8 * self._sample_size + 0.2 * size
        dense = min(_SAMPLES_DENSE, max(8.0, _SAMPLE_BYTES / self._sample_size))
        self._next_sample = self.step + 1 + int(self.step / dense)

    def names(self, group: str, names: Sequence[str]) -> None:
        """What the lists of later samples of a group count by."""
        self._pending.names(group, names)

    def event(
        self, kind: str, text: str, data: Mapping[str, object] | None = None, *, step: int | None = None
    ) -> None:
        """Something that happened; more than fifty of a kind are only counted."""
        count = self._events[kind] = self._events.get(kind, 0) + 1
        if count > _EVENTS_OF_A_KIND:
            return
        at = self.step if step is None else step
        line: dict[str, object] = {"t": self.now(), "step": at, "event": kind, "text": text}
        self._pending.line(line | {"data": dict(data)} if data else line)

    def failed(self, probe: str, error: BaseException) -> None:
        """A probe broke: it is off from now on, and the training continues."""
        if raised_by_handler(error):
            times = self._interrupted[probe] = self._interrupted.get(probe, 0) + 1
            if times == _INTERRUPTED_MOST:
                self.off.add(probe)
                self.unseen(probe, f"signal handlers of the program interrupted it {times} times")
            raise error
        if probe in self.off:
            return
        self.off.add(probe)
        if os.environ.get("TRAINDX_DEBUG"):
            import traceback

            with contextlib.suppress(Exception):
                traceback.print_exception(error, file=sys.__stderr__)
        text = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        self.unseen(probe, f"the probe failed and was switched off ({text})")
        self.event("probe_failed", f"{probe}: {text}")

    def output(self, stream: str, text: str) -> None:
        """What the script printed."""
        if not text or self.closed:
            return
        self.printed += 1
        self._pending.text(stream, self.step, self.now(), text)
        if "\n" in text:
            self._tick_output()

    def _tick_output(self) -> None:
        """Printed lines are written at once while that costs little: silence may follow, or an end."""
        began = perf_counter()
        if self._at_once < _AT_ONCE + _AT_ONCE_SHARE * self.budget.share * self.since(began):
            self.flush()
            self._at_once += perf_counter() - began
        else:
            self.tick()

    # Writing.

    def tick(self, now: float | None = None) -> None:
        """Write what is there when the last writing is a while ago."""
        now = perf_counter() if now is None else now
        if now - self._flushed >= _FLUSH:
            self.flush()
        if now - self._stop_checked_at >= _STOP_CHECK_EVERY:
            self._stop_checked_at = now
            self._stopping.check(self.step, self.world, self.budget.usual)
            self.stops = self.stops or bool(self._stopping.reason)

    def flush(self) -> None:
        """Everything so far to the file, in one write."""
        # A signal handler that prints while we write comes again when that is done.
        if self.closed or self._writing == get_ident():
            return
        self._flushed = perf_counter()
        try:
            for settle in self.before_flush:
                settle(self._pending.rows)
            # To the end: rows that a thread which prints overtakes would be read by the wrong columns.
            with self._pending.lock:
                self._writing = get_ident()
                lost_lines = self._pending.write(self.journal)
                if lost_lines:
                    self._lost_lines += lost_lines
                    self.fact("dropped", self._lost_lines)
                    self.event("recording_gap", f"{self.journal.error}: {lost_lines} lines lost")
                if self.rank == 0:
                    self._write_facts(self.journal)
        except Exception as error:
            let_through(error)
            self.failed("recording", error)
        finally:
            if self._writing == get_ident():
                self._writing = 0

    @property
    def dropped(self) -> int:
        """Lines that could not be written."""
        return self._lost_lines + self.journal.dropped

    def close(self, how: str, text: str = "", crash: Mapping[str, object] | None = None) -> None:
        """The end, with how it came; `crash` is what there is to know of an exception."""
        if self.closed:
            return
        for finish in self.before_close:
            try:
                finish()
            except Exception as error:
                self.failed("recording", error)
        self.flush()
        self._pending.end()
        if self._pending.cut:
            self.unseen("printed output", f"{self._pending.cut} characters of it were not kept")
        self.flush()
        how, text = self.ended(how, text)
        self.fact("crowding", crowding())
        self.fact("ended", {"how": how, "text": text, "t": round(self.now(), 3), "step": self.step})
        self.event("ended", text or how, {"how": how, **(crash or {})})
        self.journal.end()
        self._facts_written = -math.inf
        self.flush()
        if self.dropped:
            self.fact("dropped", self.dropped)
        self._facts_written = -math.inf
        self.flush()
        self.closed = True
        self.journal.close()

    def check_stop(self) -> None:
        """Called after each step: raises `Stopped` when the training is to end here."""
        if self.step >= self._stopping.at:
            self.stop(self._stopping.why(self.step))

    def stop_soon(self, why: str) -> None:
        """The training is to end after this step, or the one that all ranks can agree on."""
        self._stopping.decide(why, self.step, self.world, self.budget.usual)
        self.stops = True

    def stop(self, why: str) -> NoReturn:
        """End the training here; a program that catches this again and again is ended all the same."""
        self.flush()
        if not self._stopping.ask(why) and self.insist is not None:
            self.insist(why)
        raise Stopped(why)

    def ended(self, how: str, text: str) -> tuple[str, str]:
        """How it ended: a program that caught what was to stop it ends by itself, but was stopped."""
        was_stopped = how == "finished" and self._stopping.request_count
        return ("stopped", self._stopping.reason) if was_stopped else (how, text)

    def record_overhead(self) -> None:
        """How long the recorder itself has run, of how long the recording lasts."""
        self.fact("overhead", {"own_seconds": round(self.budget.spent, 3), "seconds": round(self.now(), 3)})

    def take_back(self) -> None:
        """Uncount the last step: it was none. Its row is removed, unless it has been written."""
        rows = self._pending.rows
        if rows and rows[-1].get("step") == self.step:
            rows.pop()
        self.step -= 1

    def restart(self) -> None:
        """Another training begins in the same process: its steps count from one."""
        self.flush()
        self._pending.forget_names()
        self.step = self._last_row = 0
        self._next_sample = 0

    def forked(self) -> None:
        """In a forked child: nothing of the parent's is written twice, and its file is left alone."""
        self._pending.forget()
        self.journal.close()


def start(
    folder: Path,
    *,
    rank: int = 0,
    name: str = "",
    budget: float = 0.01,
    internals: bool = True,
    steps: int | None = None,
    stop_on_critical: bool = False,
    facts: Mapping[str, object] | None = None,
) -> Recorder:
    """Begin recording in this process; the recorder is `current()` from now on."""
    global _current
    recorder = Recorder(
        folder,
        rank,
        name=name,
        budget=budget,
        internals=internals,
        steps=steps,
        stop_on_critical=stop_on_critical,
    )
    for key, value in (facts or {}).items():
        recorder.fact(key, value)
    _current = recorder
    for call in _awaiting:
        call(recorder)
    recorder.flush()
    return recorder


def when_started(call: Callable[[Recorder], None]) -> None:
    """Call this with the recorder of this process: now, if there is one, and whenever one begins."""
    _awaiting.append(call)
    if _current is not None and not _current.closed:
        call(_current)


def current() -> Recorder | None:
    """The recorder of this process."""
    return _current


def stop(why: str) -> NoReturn:
    """End the training of this process here."""
    if _current is None or _current.closed:
        raise Stopped(why)
    _current.stop(why)


def put_back(recorder: Recorder | None) -> None:
    """After a recording that was only for us: the one before it is `current()` again."""
    global _current
    _current = recorder
