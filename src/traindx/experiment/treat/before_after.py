"""Two runs before and after a change: what says how well they went, at its best and at its end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.number_text import short
from traindx.experiment.measure import MeasuredLevel, Yardstick, gain, gain_error, read_pair
from traindx.experiment.treat.expectations import Expectation

if TYPE_CHECKING:
    from traindx.core.nouns import Run

_METRICS_MOST = 3
# Of a noisy training loss, the best of so many parts: a single lucky batch is no best value.
_PARTS, _DENSE = 20, 60
# A best value is distinguished from another beyond so many standard errors, and so much of itself.
_CLEAR, _WORTH = 2.0, 0.03
# What counts as a success, as a share of the validation loss.
SUCCESS = 0.1
_LOWER = f"validation loss at least {100 * SUCCESS:.0f} % lower"


@dataclass(frozen=True)
class ScoreChange:
    """One series before and after: its best value, and its level at the end."""

    by: Yardstick
    best: tuple[float, float]
    last: tuple[float, float]
    error: float = 0.0
    """The standard error of a gain, from the noise inside both runs."""

    @property
    def best_gain(self) -> float:
        return _gain(self.by, self.best)

    @property
    def last_gain(self) -> float:
        return _gain(self.by, self.last)

    def clearly(self, difference: float) -> bool:
        """Whether a gain, or a loss, is beyond the noise of both runs."""
        return abs(difference) > max(_WORTH, _CLEAR * self.error)

    @property
    def text(self) -> str:
        return f"{self.by.words} {_arrow(self.last)} at the end, {_arrow(self.best)} at its best"

    @property
    def best_text(self) -> str:
        return f"{self.by.words} {_arrow(self.best)} at its best"


@dataclass(frozen=True)
class BeforeAfter:
    """Every series that both runs have: the losses first, then the metrics of the task."""

    changes: tuple[ScoreChange, ...] = ()
    finite: bool | None = None

    def of(self, name: str) -> ScoreChange | None:
        return next((change for change in self.changes if change.by.name == name), None)

    @property
    def text(self) -> str:
        return "; ".join(change.text for change in self.changes)

    @property
    def gap(self) -> tuple[float, float] | None:
        """How far validation is above training at the end, before and after."""
        training, validation = self.of("loss"), self.of("val/loss")
        if training is None or validation is None:
            return None
        return validation.last[0] - training.last[0], validation.last[1] - training.last[1]

    @property
    def best_is_worse(self) -> ScoreChange | None:
        """A validation series whose best value became clearly worse, while no other became better.

        Then the end alone is better: a user who keeps the best checkpoint is worse off.
        """
        validated = [change for change in self.changes if change.by.name.startswith("val/")]
        if any(change.best_gain > 0 and change.clearly(change.best_gain) for change in validated):
            return None
        return next(
            (change for change in validated if change.best_gain < 0 and change.clearly(change.best_gain)),
            None,
        )

    @property
    def criteria(self) -> tuple[Expectation, ...]:
        """Whether it is a success: a lower validation loss, a smaller gap, nothing that is not finite."""
        return tuple(self._criteria())

    def _criteria(self) -> Iterator[Expectation]:
        validation, gap = self.of("val/loss"), self.gap
        if validation is None:
            yield Expectation(_LOWER, None, "no validation loss in both runs")
        else:
            share = f"{-100 * validation.last_gain:+.0f} %"
            numbers = f"{_arrow(validation.last)}, {share}; best {_arrow(validation.best)}"
            success = validation.last_gain >= SUCCESS and self.best_is_worse is None
            yield Expectation(_LOWER, success, numbers)
        if gap is not None and gap[0] > 0:
            yield Expectation(
                "gap of validation to training smaller", gap[1] < (1 - _WORTH) * gap[0], _arrow(gap)
            )
        if self.finite is not None:
            yield Expectation("every loss finite", self.finite, "in the run after")


def before_after(before: Run, after: Run, upto: float | None = None) -> BeforeAfter:
    """Two runs compared; `upto` limits both to the same steps."""
    changes = [change for by in _yardsticks(before, after) if (change := _change(by, before, after, upto))]
    loss = after.series.get("loss")
    finite = bool(np.isfinite(loss.values).all()) if loss is not None and len(loss) else None
    return BeforeAfter(tuple(changes), finite)


def best_is_worse(pairs: Sequence[tuple[Run, Run]]) -> ScoreChange | None:
    """The same of several pairs: where most of them say so, what the first of these says."""
    worse = [
        score_change for pair in pairs if (score_change := before_after(*pair).best_is_worse) is not None
    ]
    return worse[0] if len(worse) > len(pairs) / 2 else None


def _yardsticks(before: Run, after: Run) -> Iterator[Yardstick]:
    names = [name for name in before.series if name in after.series]
    yield from (Yardstick(name) for name in ("loss", "val/loss") if name in names)
    metrics = [name for name in names if before.series[name].goal == "higher"]
    kinds = list(dict.fromkeys(name.removeprefix("val/") for name in metrics))[:_METRICS_MOST]
    for name in (side + kind for kind in kinds for side in ("", "val/")):
        if name in metrics:
            yield Yardstick(name, higher=True)


def _change(by: Yardstick, before: Run, after: Run, upto: float | None) -> ScoreChange | None:
    pair = read_pair(by, before, after, upto)
    best = _best(before, by, upto), _best(after, by, upto)
    if pair is None or best[0] is None or best[1] is None:
        return None
    error = gain_error(by, pair.before, pair.after)
    return ScoreChange(by, (best[0], best[1]), (pair.before.value, pair.after.value), error)


def _best(run: Run, by: Yardstick, upto: float | None) -> float | None:
    series = run.series[by.name]
    values = series.values if upto is None else series.values[series.steps <= upto]
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    if by.name == "loss" and values.size >= _DENSE:
        values = np.array([np.median(part) for part in np.array_split(values, _PARTS)])
    return float(values.max() if by.higher else values.min())


def _gain(by: Yardstick, values: tuple[float, float]) -> float:
    return gain(by, MeasuredLevel(values[0], 0.0, 0.0), MeasuredLevel(values[1], 0.0, 0.0))


def _arrow(values: tuple[float, float]) -> str:
    return " -> ".join(short(value) if math.isfinite(value) else "not finite" for value in values)
