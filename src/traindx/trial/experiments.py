"""Which experiments a problem has, with this run's numbers, and what an arm of one showed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.core import Problem, Run
from traindx.intervene.unit import Change
from traindx.knowledge.catalogue import remedies
from traindx.knowledge.experiments import Experiment, experiments
from traindx.numbers import short
from traindx.trial.belief import Shown
from traindx.trial.judge import Pair, Verdict, judge
from traindx.trial.measure import Level, Yardstick, gain_error, read_level

if TYPE_CHECKING:
    from traindx.core import FloatArray

_CURE = 0.5
_LEAST_FACTOR = 1e-3
_LARGER = ("raise_batch", "fill_the_device")
_FITS, _STUCK = 0.1, 0.75
# A short run without an effect is no proof that there is none.
_SAME_CLARITY = 0.7
_LEAST_CLARITY = 0.3
_INERT_LEAST = 5
_UNREACHED = re.compile(
    r"^no (DataLoader|backward|classification|loss function|model|module|optimizer|layer)"
    r"|out of reach|of the script's own|is iterable|it failed itself"
)


@dataclass(frozen=True)
class Planned:
    """An experiment with the concrete change that carries it out here."""

    experiment: Experiment
    change: Change
    checked: bool = False
    """Whether a check-up has seen that there is something to change."""
    apart: bool = False
    """Whether it goes into no further check-up."""

    @property
    def reveals(self) -> bool:
        """Whether the change itself tells by doing nothing that there is nothing to mend."""
        return self.experiment.others == "idle" and not self.apart and not self.experiment.alone


def planned(problem: Problem, run: Run) -> list[Planned]:
    """Every experiment that says something about a cause of this problem."""
    symptoms = {problem.symptom, *problem.also}
    able = {hypothesis.cause for hypothesis in problem.hypotheses}
    made: list[Planned] = []
    for experiment in experiments().values():
        if experiment.symptoms and not experiment.symptoms & symptoms:
            continue
        if not any(cause in able and word != experiment.others for cause, word in experiment.causes.items()):
            continue
        change = _change(experiment, problem, run)
        if change is not None and all(one.change != change for one in made):
            made.append(Planned(experiment, change))
    return made


def _change(experiment: Experiment, problem: Problem, run: Run) -> Change | None:
    texts = [experiment.change] if experiment.change else _trials(experiment.remedy, problem)
    advised = _advised_rate(experiment.remedy, problem, run)
    for text in [advised, *texts] if advised else texts:
        try:
            change = Change.parse(text)
        except ValueError:
            continue
        if _right_way(experiment.remedy, change, run):
            return change
    return None


def _right_way(remedy: str, change: Change, run: Run) -> bool:
    """A larger batch must be larger than this run's, a smaller one smaller."""
    now, new = run.settings.get("batch_size"), change.values.get("value")
    if change.id != "set_batch_size" or not isinstance(now, int | float) or not isinstance(new, int | float):
        return True
    return new > now if remedy in _LARGER else new < now


def _trials(remedy: str, problem: Problem) -> Sequence[str]:
    """With this run's numbers, where the diagnosis has filled them in."""
    for hypothesis in problem.hypotheses:
        for fix in hypothesis.fixes:
            if fix.remedy == remedy and fix.trials:
                return fix.trials
    return [text for text in remedies()[remedy].trials if "{" not in text]


def _advised_rate(remedy: str, problem: Problem, run: Run) -> str:
    """The learning rate that the diagnosis advises, as a factor."""
    now = run.settings.get("lr")
    fixes = [fix for hypothesis in problem.hypotheses for fix in hypothesis.fixes if fix.remedy == remedy]
    new = fixes[0].config.get("lr") if fixes else None
    if not isinstance(now, int | float) or not isinstance(new, int | float) or not now > 0 < new:
        return ""
    factor = max(_LEAST_FACTOR, min(1 / _LEAST_FACTOR, new / now))
    return f"scale_lr factor={factor:.3g}"


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
    """Whether a change found no place to act at, which says nothing about what it would have mended."""
    return bool(_UNREACHED.search(failed))


def show_inert(planned: Planned, why: str) -> Shown:
    """There was nothing to change: the runs are the same."""
    return Shown(planned.experiment, "inert", 1.0, f"{planned.experiment.title} changed nothing: {why}.")


def show_active(planned: Planned, did: str) -> Shown:
    """There was something to change; whether that mends anything is not known yet."""
    return Shown(
        planned.experiment, "active", 1.0, f"{planned.experiment.title} finds something to change: {did}."
    )


def show_gain(planned: Planned, verdict: Verdict, cured: bool) -> Shown | None:
    """What a comparison showed; None where it cannot tell."""
    outcome = _gain_outcome(verdict, cured)
    if outcome is None:
        return None
    pair = verdict.pairs[0]
    clarity = _SAME_CLARITY if outcome == "same" else _clarity(verdict)
    if outcome == "cured":
        clarity = 1.0
    text = f"{planned.experiment.title}: {verdict.by.words} {_values(verdict)} at step {pair.before.step:g}"
    return Shown(
        planned.experiment, outcome, clarity, f"{text}, {_WORDS[outcome]}.", pair.after.step, verdict.by.name
    )


_WORDS = {
    "cured": "the trouble is gone",
    "helped": "clearly better",
    "same": "no clear difference",
    "hurt": "clearly worse",
}


def _gain_outcome(verdict: Verdict, cured: bool) -> str | None:
    match verdict.word:
        case "helped":
            return "cured" if cured or verdict.gain >= _CURE else "helped"
        case "hurt":
            return "hurt"
        case "no difference":
            return "same"
    return None


def _clarity(verdict: Verdict) -> float:
    """How far a gain is beyond its own noise."""
    error = math.hypot(*(gain_error(verdict.by, one.before, one.after) for one in verdict.pairs))
    error /= max(1, len(verdict.pairs))
    return max(_LEAST_CLARITY, min(1.0, abs(verdict.gain) / (6 * max(0.03, error))))


def _values(verdict: Verdict) -> str:
    before = [pair.before.value for pair in verdict.pairs]
    after = [pair.after.value for pair in verdict.pairs]
    return f"{_number(before)} -> {_number(after)}"


def _number(values: Sequence[float]) -> str:
    finite = [value for value in values if math.isfinite(value)]
    return short(sum(finite) / len(finite)) if finite else "not finite"


def show_fit(planned: Planned, run: Run) -> Shown | None:
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
    return Shown(planned.experiment, outcome, clarity, f"{text}, {_FIT_WORDS[outcome]}.", level.step, "loss")


_FIT_WORDS = {
    "fits": "it can be learned by heart",
    "falls": "it falls some way",
    "stuck": "not even that is learned",
}


def show_need(planned: Planned, before: Run, after: Run, step: float) -> Shown | None:
    """Whether the training does worse without the inputs, or with the labels out of order."""
    by = Yardstick("loss")
    first, second = read_level(before, by, step), read_level(after, by, step)
    if first is None or second is None or not math.isfinite(first.value):
        return None
    verdict = judge(by, [Pair(0, first, second)])
    outcome = "needed" if verdict.word == "hurt" else "unneeded" if verdict.word != "cannot tell" else None
    if outcome is None:
        return None
    clarity = _clarity(verdict) if outcome == "needed" else _SAME_CLARITY
    if outcome == "unneeded" and not _learned(before, first):
        clarity *= _LEAST_CLARITY  # a training that learns nothing has nothing to lose
    word = "worse: it uses them" if outcome == "needed" else "no worse: it did without them"
    text = f"{planned.experiment.title}: training loss {_values(verdict)} at step {first.step:g}, {word}."
    return Shown(planned.experiment, outcome, clarity, text, second.step, "loss")


def _learned(run: Run, end: Level) -> bool:
    """Whether the loss came clearly down from its start."""
    start = run.series["loss"].values[:_INERT_LEAST]
    return bool(end.value < np.nanmean(start) - 3 * max(end.error, 0.01 * abs(end.value)))
