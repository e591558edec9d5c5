"""What a trial is measured by: one number a run, read at its end or at a step, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.nouns import Run, Series
from traindx.evidence.stats import level
from traindx.knowledge.catalogue import symptom_kind

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray
    from traindx.experiment.runtime.change import Change


# Of the training loss, which has a value every step, the last part counts; of validation the last values.
_END = 0.1
_END_LEAST, _END_MOST = 5, 200
_VALIDATION_LAST = 3
# Scores that do not grow by answering with the largest class, the fairest first.
_FAIR = ("f1", "balanced", "mcc", "kappa", "average_precision", "auc", "recall", "sensitivity")


@dataclass(frozen=True)
class Yardstick:
    """A series that says how well a training went, and which way is better."""

    name: str
    higher: bool = False

    @property
    def words(self) -> str:
        return {"loss": "training loss", "val/loss": "validation loss", "step_s": "seconds a step"}.get(
            self.name, self.name.replace("val/", "validation ")
        )


@dataclass(frozen=True)
class MeasuredLevel:
    """The value of a yardstick in a run, its error, and at which step. Infinite: it broke."""

    value: float
    error: float
    step: float


@dataclass(frozen=True)
class Pair:
    """The same seed and data without and with a change, read at the same point of the training."""

    seed: int
    before: MeasuredLevel
    after: MeasuredLevel


class NoSuchMetric(ValueError):
    """The metric that was asked for is not there; the message names those that are."""


def yardstick(
    run: Run,
    symptoms: Sequence[str],
    metric: str | None = None,
    *,
    other_loss: bool = False,
    rare: bool = False,
    held_out: bool = False,
) -> Yardstick | None:
    """What to judge by: what is asked for; the pace of a slow training; else validation, else the loss.

    `other_loss` says that the remedy changes what the loss means: a score says more then; with `rare` one
    that counts rare classes. With `held_out` any score of validation data comes before the training loss.
    """
    names = list(run.series)
    if metric is not None:
        series = run.series.get(metric)
        if series is None:
            able = [name for name in names if run.series[name].goal != "none"]
            raise NoSuchMetric(f"there is no metric {metric!r}; there are: {', '.join(able) or 'none'}.")
        return Yardstick(metric, series.goal == "higher")
    if symptoms and symptom_kind(symptoms[0]) == "slow" and "step_s" in names:
        return Yardstick("step_s")
    if rare and (fair := fair_score(run)) is not None:
        return fair
    scores = [name for name in names if name.startswith("val/") and run.series[name].goal == "higher"]
    if other_loss and scores:
        return Yardstick(scores[0], higher=True)
    if held_out and not len(run.series.get("val/loss", ())):
        able = [n for n in names if n.startswith("val/") and run.series[n].goal != "none" and "@" not in n]
        if able:
            return Yardstick(able[0], run.series[able[0]].goal == "higher")
    for name in ("val/loss", "loss"):
        if name in names and len(run.series[name]):
            return Yardstick(name)
    lower = next((name for name in names if run.series[name].goal == "lower"), None)
    if lower is not None:
        return Yardstick(lower)
    return Yardstick(scores[0], higher=True) if scores else None


def fair_score(run: Run) -> Yardstick | None:
    """A score that does not grow by answering with the largest class; accuracy and the loss do."""
    names = [name for name, series in run.series.items() if series.goal == "higher"]
    names.sort(key=lambda name: not name.startswith("val/"))
    fair = (name for word in _FAIR for name in names if word in name.lower())
    name = next(fair, None)
    return Yardstick(name, higher=True) if name is not None else None


def steps_for_step(changes: Sequence[Change], run: Run | None) -> float:
    """Steps of a changed run that see as many samples as one step of this untouched one."""
    new = next((change.values.get("value") for change in changes if change.id == "set_batch_size"), None)
    old = run.settings.get("batch_size") if run is not None else None
    if isinstance(new, int | float) and isinstance(old, int | float) and new > 0 and old > 0:
        return old / new
    return 1.0


def read_level(run: Run, by: Yardstick, upto: float | None = None) -> MeasuredLevel | None:
    """The level of a run at a step, or at its end; None where it has no value so far."""
    series = run.series.get(by.name)
    if series is None or not len(series):
        return None
    part = slice(None) if upto is None else slice(0, int(np.searchsorted(series.steps, upto, "right")))
    values = series.values[part]
    if not values.size:
        return None
    steps = series.steps[part]
    if by.name == "step_s":
        middle, error = level(values[np.isfinite(values)])
        return MeasuredLevel(middle, error, float(steps[-1]))
    return _end(by, series, values, float(steps[-1]))


def _end(by: Yardstick, series: Series, values: FloatArray, step: float) -> MeasuredLevel:
    dense = series.name == "loss" and values.size > 30
    count = min(_END_MOST, max(_END_LEAST, round(_END * values.size))) if dense else _VALIDATION_LAST
    last = values[-min(count, values.size) :]
    if not np.isfinite(last[-1]) or not np.isfinite(last).any():
        return MeasuredLevel(-math.inf if by.higher else math.inf, 0.0, step)
    finite = last[np.isfinite(last)]
    if dense:
        value, error = level(finite)
        return MeasuredLevel(value, error, step)
    # Validation is rare and mostly still moving: the last two are its level.
    value = float(finite[-2:].mean()) if values.size >= 6 else float(finite[-1])
    moves = np.diff(values[-6:][np.isfinite(values[-6:])])
    error = float(np.median(np.abs(moves - np.median(moves)))) if moves.size >= 3 else 0.0
    return MeasuredLevel(value, error, step)


def read_pair(
    by: Yardstick,
    before: Run | None,
    after: Run | None,
    upto: float | None = None,
    *,
    pace: float = 1.0,
    seed: int = 0,
) -> Pair | None:
    """The levels of two runs at a step, or at their ends; `pace` is how many steps the second takes for one
    of the first. None where one of them has no value so far."""
    if before is None or after is None:
        return None
    levels = read_level(before, by, upto), read_level(after, by, upto and upto * pace)
    return Pair(seed, levels[0], levels[1]) if levels[0] is not None and levels[1] is not None else None


def gains_of(by: Yardstick, pairs: Sequence[Pair]) -> tuple[list[float], list[float]]:
    """The gain of each pair, and its standard error."""
    gains = [gain(by, pair.before, pair.after) for pair in pairs]
    return gains, [gain_error(by, pair.before, pair.after) for pair in pairs]


def finite_mean(values: Iterable[float]) -> float | None:
    """The mean of the values that did not break; None where all did."""
    finite = [value for value in values if math.isfinite(value)]
    return sum(finite) / len(finite) if finite else None


def gain(by: Yardstick, before: MeasuredLevel, after: MeasuredLevel) -> float:
    """How much better, as a share: 0.5 says that half of a loss is gone; of a score, its difference.

    Of two runs that both broke neither is better.
    """
    worse, better = before.value, after.value
    if not math.isfinite(worse) or not math.isfinite(better):
        return 0.0 if worse == better else (1.0 if math.isfinite(better) else -1.0)
    if by.higher:
        return better - worse
    if worse > 0 and better > 0:
        return 1.0 - better / worse if better <= worse else worse / better - 1.0
    return (worse - better) / max(abs(worse), abs(better), 1e-12)


def gain_error(by: Yardstick, before: MeasuredLevel, after: MeasuredLevel) -> float:
    """The standard error of a gain from the noise inside both runs."""
    if not (math.isfinite(before.value) and math.isfinite(after.value)):
        return 0.0
    first, last = abs(before.value), abs(after.value)
    if by.higher:
        return math.hypot(before.error, after.error)
    if first > 0 and last > 0 and before.value * after.value > 0:
        # The gain is one minus a ratio: wild values that fell to almost nothing fell for sure.
        return min(first, last) / max(first, last) * math.hypot(before.error / first, after.error / last)
    return math.hypot(before.error, after.error) / max(first, last, 1e-12)
