"""Steps that a framework takes in one call of a compiled function: what they share in any framework."""

from __future__ import annotations

from math import inf

from traindx.observe.budget import UNDERCOUNT
from traindx.observe.clock import perf_counter
from traindx.observe.early_steps import EarlySteps
from traindx.observe.process_memory import resident_bytes
from traindx.observe.recorder import Recorder
from traindx.observe.untrained import UntrainedReport

Row = dict[str, object]
# Every step up to this one gets a row, whatever it costs.
ALL_ROWS = 200
# After so many steps in a row that are not the leading function's or optimizer's, the training is another.
OTHERS_MOST = 12
_MEMORY_EVERY = 1.0


class CallSteps:
    """Counts steps and charges what recording them costs."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.sample_count = 0
        self._early = EarlySteps()
        self._untrained = UntrainedReport(recorder)
        self._last_end: float | None = None
        self._last_row = 0
        self._memory_read = -inf
        self._waiting: list[Row] = []

    def _finish(self, sampled: bool, now: float, seconds: float, traced: bool) -> None:
        """The step has its row: charge the time since `now`, write, and stop the training if asked to."""
        recorder = self.recorder
        own_seconds = perf_counter() - now
        if not traced:
            recorder.budget.step(seconds, UNDERCOUNT * own_seconds, sampled)
        began = perf_counter()
        recorder.tick(began)
        recorder.budget.wrote(perf_counter() - began)
        self._last_end = perf_counter()
        recorder.check_stop()

    def _memory(self, row: Row, now: float) -> None:
        if now - self._memory_read >= _MEMORY_EVERY:
            self._memory_read = now
            resident = resident_bytes()
            if resident is not None:
                row["rss_bytes"] = resident

    def _pay_for_sample(self, own_seconds: float, seconds: float, traced: bool) -> None:
        """Charge a sample to the account that can pay; a traced step says nothing about the usual time."""
        budget = self.recorder.budget
        if budget.samples.can_pay() or not budget.norms.can_pay():
            budget.sampled(own_seconds, own_seconds if traced else seconds + own_seconds)
        else:
            budget.spent += own_seconds
            excess = seconds + own_seconds - budget.usual if budget.usual and not traced else 0.0
            budget.norms.pay(max(UNDERCOUNT * own_seconds, excess))
