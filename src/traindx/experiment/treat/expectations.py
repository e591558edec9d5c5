"""What the page of a remedy expects (`then:`), measured on the runs before and after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.core.nouns import Diagnosis, Run
from traindx.evidence.stats import noise
from traindx.experiment.measure import Yardstick, fair_score, read_pair
from traindx.knowledge.catalogue import remedies

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# Shares by which a number must have moved to have moved at all.
_MOVED = 0.03
_CALM = 10.0
_LEAST = 10


@dataclass(frozen=True)
class Expectation:
    """One thing a remedy, or a success, should bring; `met` is None where these runs cannot say."""

    text: str
    met: bool | None
    said: str

    @property
    def line(self) -> str:
        word = {True: "met", False: "not met", None: "cannot tell"}[self.met]
        return f"{self.text}: {word} ({self.said})"


@dataclass(frozen=True)
class _Arms:
    """The run before, as far as the trial went, and the run after."""

    before: Run
    after: Run
    upto: float | None

    def values(self, name: str) -> tuple[FloatArray, FloatArray]:
        """The finite values of a series in both."""
        finite_values = []
        for run in (self.before, self.after):
            series = run.series.get(name)
            values = np.empty(0) if series is None else series.values
            if series is not None and self.upto is not None:
                values = values[series.steps <= self.upto]
            finite_values.append(values[np.isfinite(values)])
        return finite_values[0], finite_values[1]

    def level(self, name: str) -> tuple[float, float] | None:
        """The level of a series in both; None where one has none."""
        pair = read_pair(Yardstick(name), self.before, self.after, self.upto)
        return (pair.before.value, pair.after.value) if pair is not None else None


Result = tuple[bool | None, str]
Measure = Callable[[_Arms], Result]


def _lower(pair: tuple[float, float] | None, name: str) -> Result:
    """Whether the second number is lower by more than nothing; one that broke is infinitely high."""
    if pair is None:
        return None, f"no {name} in both runs"
    before, after = pair
    if not math.isfinite(after):
        return False, f"{before:.4g} -> not finite"
    if not math.isfinite(before):
        return True, f"not finite -> {after:.4g}"
    return before - after > _MOVED * max(abs(before), abs(after)), f"{before:.4g} -> {after:.4g}"


def _lower_end(series: str, name: str) -> Measure:
    """Whether the final level of a series is lower."""
    return lambda arms: _lower(arms.level(series), name)


def _lower_of(series: str, statistic: Callable[[FloatArray], Any], name: str) -> Measure:
    """Whether a statistic of a series is lower."""

    def measure(arms: _Arms) -> Result:
        before, after = arms.values(series)
        if min(before.size, after.size) < _LEAST:
            return None, f"no {name} in both runs"
        return _lower((float(statistic(before)), float(statistic(after))), name)

    return measure


def _gap_smaller(arms: _Arms) -> Result:
    loss, validation = arms.level("loss"), arms.level("val/loss")
    if loss is None or validation is None:
        return None, "no training and validation loss in both runs"
    return _lower((validation[0] - loss[0], validation[1] - loss[1]), "gap")


def _sooner(arms: _Arms) -> Result:
    """The level the old run ended at, and when the new one had it."""
    before, after = arms.values("loss")
    if min(before.size, after.size) < 5 * _LEAST:
        return None, "too few steps"
    goal = float(np.median(before[-max(_LEAST, before.size // 10) :]))
    width = max(5, after.size // 20)
    smooth = np.convolve(after, np.ones(width) / width, "valid")
    below = np.flatnonzero(smooth <= goal)
    if not below.size:
        return False, f"the old run's {goal:.4g} was not reached"
    share = float(below[0] + width) / before.size
    return share <= 0.5, f"the old run's {goal:.4g} reached after {share:.0%} of its steps"


def _finite(arms: _Arms) -> Result:
    series = arms.after.series.get("loss")
    if series is None or not len(series):
        return None, "no training loss"
    broken = int(np.count_nonzero(~np.isfinite(series.values)))
    return not broken, f"{broken:,} of {len(series):,} losses not finite"


def _wildness(values: FloatArray) -> float:
    middle = float(np.median(values))
    return float(values.max()) / middle if middle > 0 else math.inf


def _gradients_calmer(arms: _Arms) -> Result:
    before, after = arms.values("grad_norm")
    if min(before.size, after.size) < _LEAST:
        return None, "no gradient norms in both runs"
    first, last = _wildness(before), _wildness(after)
    calmer = last <= _CALM or float(after.max()) < (1 - _MOVED) * float(before.max())
    return calmer, (
        f"largest norm {before.max():.3g} -> {after.max():.3g}, {first:.3g} -> {last:.3g} times the median"
    )


def _gradients_larger(arms: _Arms) -> Result:
    before, after = arms.values("grad_norm")
    if min(before.size, after.size) < _LEAST:
        return None, "no gradient norms in both runs"
    first, last = float(np.median(before)), float(np.median(after))
    return last > (1 + _MOVED) * first, f"median norm {first:.3g} -> {last:.3g}"


def _rare_better(arms: _Arms) -> Result:
    by = fair_score(arms.before)
    pair = read_pair(by, arms.before, arms.after, arms.upto) if by is not None else None
    if by is None or pair is None:
        return None, "no score that counts rare classes (F1, recall, AUC)"
    before, after = pair.before.value, pair.after.value
    return after - before > _MOVED, f"{by.words} {before:.3g} -> {after:.3g}"


_MEASURED: Mapping[str, tuple[str, Measure]] = {
    "loss lower": ("the training loss ends lower", _lower_end("loss", "training loss")),
    "validation lower": ("the validation loss ends lower", _lower_end("val/loss", "validation loss")),
    "start lower": (
        "the first losses are lower",
        _lower_of("loss", lambda values: np.median(values[:3]), "training loss"),
    ),
    "gap smaller": ("the gap of validation to training shrinks", _gap_smaller),
    "sooner": ("the old loss is reached in half of the steps", _sooner),
    "finite": ("every loss is finite", _finite),
    "gradients calmer": ("gradient norms shrink at their peak, or stay near their median", _gradients_calmer),
    "gradients larger": ("gradients grow", _gradients_larger),
    "noise smaller": ("the loss is less noisy", _lower_of("loss", noise, "training loss")),
    "spikes smaller": (
        "the largest jump of the loss shrinks",
        _lower_of("loss", lambda values: np.diff(values).max(), "training loss"),
    ),
    "rare better": ("rare classes are found more often", _rare_better),
    "steps quicker": ("steps take less time", _lower_of("step_s", np.median, "step times")),
    "memory flatter": (
        "memory grows less",
        _lower_of("rss_bytes", lambda values: values[-1] - np.median(values[:5]), "memory"),
    ),
}
_GONE = "findings gone"


def known_terms() -> frozenset[str]:
    """What a `then:` line may name."""
    return frozenset({*_MEASURED, _GONE})


def expectations(
    remedy: str,
    before: Run,
    after: Run,
    upto: float | None = None,
    diagnoses: tuple[Diagnosis, Diagnosis] | None = None,
) -> tuple[Expectation, ...]:
    """Each expectation of a remedy on a pair of runs, with its numbers."""
    page = remedies().get(remedy)
    return tuple(_measured(page.then if page else (), _Arms(before, after, upto), diagnoses))


def _measured(
    terms: tuple[str, ...], arms: _Arms, diagnoses: tuple[Diagnosis, Diagnosis] | None
) -> Iterator[Expectation]:
    for term in terms:
        if term in _MEASURED:
            text, measure = _MEASURED[term]
            with np.errstate(all="ignore"):
                yield Expectation(text, *measure(arms))
        elif diagnoses is not None:
            yield Expectation("what was found is gone", *_findings_gone(*diagnoses))


def _findings_gone(before: Diagnosis, after: Diagnosis) -> Result:
    """Whether each finding of the first problem was checked again and not found."""
    before_ids = {finding.id for problem in before.problems[:1] for finding in problem.findings}
    after_ids = {finding.id for problem in after.problems for finding in problem.findings}
    ran = {check.check for check in after.coverage if check.status == "ran"}
    stays = sorted(before_ids & after_ids)
    if not before_ids or (not stays and not before_ids & ran):
        return None, "nothing of it could be checked again"
    text = f"{len(before_ids) - len(stays)} of {len(before_ids)} findings gone"
    return not stays, f"{text}; still there: {', '.join(stays)}" if stays else text
