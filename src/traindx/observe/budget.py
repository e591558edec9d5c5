"""How often to sample: an account for the recorder's own time, which fills as the training runs.

Each second of training pays `share` seconds in; everything the recorder does is paid out of it. The row of
each step comes first, thinned where rows alone would take more than their part; a gradient norm or a
sample of the internals is taken when its account can pay for it. An account holds at most what two seconds
pay in, so that no stretch of ten seconds is charged for savings from before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf
from statistics import median

# What a recorder measures of a sample is less than what it costs: dispatch, caches, allocations.
UNDERCOUNT = 1.4
_HOLDS = 2.0
_SPENDS = 0.7
_ROWS = 0.5
_LOOKS = 0.25
_SETTLED_EVERY = 16
_LEARNS, _OUTLIER = 0.1, 3.0


class Account:
    """One kind of sample, and what it may cost."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.balance = 0.0
        self.cost = 0.0

    def earn(self, seconds: float) -> None:
        self.balance = min(self.balance + self.share * seconds, max(self.share * _HOLDS, self.cost))

    def can_pay(self) -> bool:
        return self.share > 0 and self.balance >= self.cost

    def pay(self, seconds: float) -> None:
        """Charge a sample. Its cost is remembered; one slow sample does not change it much.

        The first samples are taken whatever they cost: they leave no debt beyond one sample.
        """
        charged = min(seconds, 4 * self.cost) if self.cost else seconds
        self.balance = max(self.balance - charged, -charged)
        self.cost = seconds if self.cost == 0 else 0.7 * self.cost + 0.3 * min(seconds, 4 * self.cost)


class Budget:
    """The recorder's accounts: the row of every step, gradient norms, samples of the internals."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.norms = Account(0.5 * _SPENDS * share)
        self.samples = Account(0.5 * _SPENDS * share)
        self.row_cost = 0.0
        self.spent = 0.0
        self.stride = 1
        self.usual = 0.0
        self._seconds: deque[float] = deque(maxlen=31)
        self._since = self._recorder_seconds = self._write_seconds = self._write_share = 0.0
        self._rows, self._settled = 0, _SETTLED_EVERY

    def step(self, seconds: float, recorder_seconds: float, sampled: bool) -> None:
        """A step took `seconds`, of which the recorder `recorder_seconds`; `sampled`: with a sample."""
        if sampled:
            self.spent += recorder_seconds
            self.passed(seconds)
        else:
            self.rows((seconds,), recorder_seconds)

    def rows(self, seconds: Sequence[float], recorder_seconds: float) -> None:
        """Each of these steps has a row; `recorder_seconds` is what all their rows cost."""
        self.spent += recorder_seconds
        self._recorder_seconds += recorder_seconds
        self._rows += len(seconds)
        self._seconds.extend(seconds)
        self.passed(sum(seconds))

    def wrote(self, recorder_seconds: float) -> None:
        """Time spent on writing to the file, however many rows were written."""
        self.spent += recorder_seconds
        self._write_seconds += recorder_seconds

    def passed(self, seconds: float) -> None:
        """The training ran for another `seconds`."""
        self._since += seconds
        self._settled -= 1
        if self._settled <= 0 or seconds > 0.05:
            self._settle()

    def sampled(self, recorder_seconds: float, seconds: float) -> None:
        """A sample took `recorder_seconds` in a step of `seconds`."""
        self.spent += recorder_seconds
        excess = seconds - self.usual if self.usual else 0.0
        self.samples.pay(min(max(UNDERCOUNT * recorder_seconds, excess), 4 * UNDERCOUNT * recorder_seconds))

    def _settle(self) -> None:
        """Samples get the part of the budget that rows do not need, and always a minimum."""
        if self._rows:
            # The mean, since what comes with one row in many belongs to all of them. A recorder that had to
            # wait for its turn on the machine looks slow once.
            mean = min(self._recorder_seconds / self._rows, _OUTLIER * self.row_cost or inf)
            self.row_cost += (mean - self.row_cost) * (_LEARNS if self.row_cost else 1.0)
            self.usual = median(self._seconds)
        if self._since:
            writing = min(self._write_seconds / self._since, _OUTLIER * self.share)
            self._write_share += (writing - self._write_share) * _LEARNS
        if self.share and self.usual:
            self.stride = max(1, min(64, round(self.row_cost / (_ROWS * self.share * self.usual))))
            sample_share = _SPENDS * self.share - self._write_share - self.row_cost / self.stride / self.usual
            for account in (self.norms, self.samples):
                account.share = 0.5 * max(_LOOKS * self.share, sample_share)
        for account in (self.norms, self.samples):
            account.earn(self._since)
        self._since = self._recorder_seconds = self._write_seconds = 0.0
        self._rows, self._settled = 0, _SETTLED_EVERY
