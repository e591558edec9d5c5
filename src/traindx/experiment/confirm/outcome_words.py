"""What the arms of an experiment showed, in the words of its measure, with its numbers and how clearly."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.nouns import Run
from traindx.core.number_text import short
from traindx.experiment.confirm.belief import ExperimentObservation
from traindx.experiment.confirm.experiments import Planned
from traindx.experiment.measure import MeasuredLevel, Yardstick, finite_mean, gains_of, read_level, read_pair
from traindx.experiment.treat.remedy_verdict import TrialVerdict, Word, judge

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_CURE = 0.5
_FITS, _STUCK = 0.1, 0.75
# A short run without an effect is no proof that there is none.
_SAME_CLARITY = 0.7
_LEAST_CLARITY = 0.3
_INERT_LEAST = 5
_APART_LEAST, _APART_MOST = 3, 5
_UNREACHED = re.compile(
    r"^no (DataLoader|backward|classification|loss function|model|module|optimizer|layer)"
    r"|out of reach|of the script's own|is iterable|it failed itself"
)


def same_numbers(before: Run, after: Run) -> bool:
    """Whether everything that two runs are judged by is the same to the last digit, as far as both go."""
    if not min(_length(before), _length(after)) >= _INERT_LEAST:
        return False
    return all(
        name in after.series and _alike(series.values, after.series[name].values)
        for name, series in before.series.items()
        if name == "loss" or name.startswith("val/")
    )


def _length(run: Run) -> int:
    return len(run.series["loss"]) if "loss" in run.series else 0


def _alike(first: FloatArray, second: FloatArray) -> bool:
    count = min(first.size, second.size)
    return bool(np.array_equal(first[:count], second[:count], equal_nan=True))


def unreached(failed: str) -> bool:
    """Whether a change found no place to act at, which says nothing about what it would have fixed."""
    return bool(_UNREACHED.search(failed))


def show_inert(planned: Planned, reason: str) -> ExperimentObservation:
    """There was nothing to change: the runs are the same."""
    return ExperimentObservation(
        planned.experiment, "inert", 1.0, f"{planned.experiment.title} changed nothing: {reason}."
    )


def show_active(planned: Planned, did: str) -> ExperimentObservation:
    """There was something to change; whether that fixes anything is not known yet."""
    return ExperimentObservation(
        planned.experiment, "active", 1.0, f"{planned.experiment.title} finds something to change: {did}."
    )


def show_gain(planned: Planned, verdict: TrialVerdict, cured: bool) -> ExperimentObservation | None:
    """What a comparison showed; None where it is undecided."""
    outcome = _gain_outcome(verdict, cured)
    if outcome is None:
        return None
    pair = verdict.pairs[0]
    clarity = _SAME_CLARITY if outcome == "same" else _clarity(verdict)
    if outcome == "cured":
        clarity = 1.0
    text = f"{planned.experiment.title}: {verdict.by.words} {_values(verdict)} at step {pair.before.step:g}"
    return ExperimentObservation(
        planned.experiment, outcome, clarity, f"{text}, {_WORDS[outcome]}.", pair.after.step, verdict.by.name
    )


_WORDS = {
    "cured": "the problem is gone",
    "helped": "clearly better",
    "same": "no clear difference",
    "hurt": "clearly worse",
}


def apart(by: Yardstick, before: Run, after: Run, upto: float | None, pace: float) -> Word | None:
    """`helped` or `hurt` where each of the last values of one run is beyond all those of the other.

    Rare values of a loss that went wild have a spread that hides any gain.
    """
    old, new = _last(before, by, upto), _last(after, by, upto and upto * pace)
    if min(old.size, new.size) < _APART_LEAST:
        return None
    better = new.min() > old.max() if by.higher else new.max() < old.min()
    worse = new.max() < old.min() if by.higher else new.min() > old.max()
    return "helped" if better else "hurt" if worse else None


def _last(run: Run, by: Yardstick, upto: float | None) -> FloatArray:
    series = run.series[by.name]
    values = series.values if upto is None else series.values[series.steps <= upto]
    last = values[-_APART_MOST:]
    return last[np.isfinite(last)]


def _gain_outcome(verdict: TrialVerdict, cured: bool) -> str | None:
    match verdict.word:
        case "helped":
            return "cured" if cured or verdict.gain >= _CURE else "helped"
        case "hurt":
            return "hurt"
        case "no difference":
            return "same"
    return None


def _clarity(verdict: TrialVerdict) -> float:
    """How far a gain is beyond its own noise."""
    error = math.hypot(*gains_of(verdict.by, verdict.pairs)[1])
    error /= max(1, len(verdict.pairs))
    return max(_LEAST_CLARITY, min(1.0, abs(verdict.gain) / (6 * max(0.03, error))))


def _values(verdict: TrialVerdict) -> str:
    before = [pair.before.value for pair in verdict.pairs]
    after = [pair.after.value for pair in verdict.pairs]
    return f"{_number(before)} -> {_number(after)}"


def _number(values: Sequence[float]) -> str:
    mean = finite_mean(values)
    return short(mean) if mean is not None else "not finite"


def show_fit(planned: Planned, run: Run) -> ExperimentObservation | None:
    """How far the loss of one batch came down."""
    loss = run.series.get("loss")
    level = read_level(run, Yardstick("loss"))
    if loss is None or level is None or len(loss) < 2 * _INERT_LEAST:
        return None
    first = float(np.nanmean(loss.values[:2]))
    if not math.isfinite(first) or first <= 0:
        return None
    share = level.value / first if math.isfinite(level.value) else math.inf
    outcome = "fits" if share <= _FITS else "stuck" if share >= _STUCK else "falls"
    clarity = min(1.0, 0.4 + abs(math.log2(max(1e-3, min(4.0, share)) / math.sqrt(_FITS * _STUCK))) / 3)
    text = (
        f"{planned.experiment.title}: loss {short(first)} -> {_number([level.value])} in {level.step:g} steps"
    )
    return ExperimentObservation(
        planned.experiment, outcome, clarity, f"{text}, {_FIT_WORDS[outcome]}.", level.step, "loss"
    )


_FIT_WORDS = {
    "fits": "it can be memorised",
    "falls": "it falls some way",
    "stuck": "not even that is learned",
}


def show_need(planned: Planned, before: Run, after: Run, step: float) -> ExperimentObservation | None:
    """Whether the training does worse without the inputs, or with the labels out of order."""
    by = Yardstick("loss")
    step = min([step, *(float(run.series["loss"].steps[-1]) for run in (before, after) if _length(run))])
    pair = read_pair(by, before, after, step)
    if pair is None or not math.isfinite(pair.before.value):
        return None
    first, second = pair.before, pair.after
    verdict = judge(by, [pair])
    outcome = "needed" if verdict.word == "hurt" else "unneeded" if verdict.word != "cannot tell" else None
    if outcome is None:
        return None
    clarity = _clarity(verdict) if outcome == "needed" else _SAME_CLARITY
    if outcome == "unneeded" and not _learned(before, first):
        clarity *= _LEAST_CLARITY  # a training that learns nothing has nothing to lose
    word = "worse: it uses them" if outcome == "needed" else "no worse: it did without them"
    text = f"{planned.experiment.title}: training loss {_values(verdict)} at step {first.step:g}, {word}."
    return ExperimentObservation(planned.experiment, outcome, clarity, text, second.step, "loss")


def _learned(run: Run, end: MeasuredLevel) -> bool:
    """Whether the loss came clearly down from its start."""
    start = run.series["loss"].values[:_INERT_LEAST]
    return bool(end.value < np.nanmean(start) - 3 * max(end.error, 0.01 * abs(end.value)))
