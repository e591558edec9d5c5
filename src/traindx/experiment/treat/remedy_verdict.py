"""The verdict on a remedy: pairs of runs that differ in nothing else, the symptom, what is new."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from traindx.core.nouns import Diagnosis, Run
from traindx.evidence.stats.differences import Difference, paired, within
from traindx.experiment.arm_diagnosis import acute
from traindx.experiment.measure import Pair, Yardstick, finite_mean, gains_of
from traindx.experiment.treat.before_after import best_is_worse

Word = Literal["helped", "hurt", "no difference", "cannot tell"]
# A gain is distinguished from none beyond so many standard errors, and never below so much of the value.
_CLEAR = 2.0
_WORTH = 0.03
_SAME = 0.03


@dataclass(frozen=True)
class TrialVerdict:
    """What the pairs say. `gain` is a share of the loss, or a difference of scores."""

    word: Word
    by: Yardstick
    pairs: tuple[Pair, ...]
    gain: float
    difference: Difference
    symptom_gone: bool | None = None
    new_problems: tuple[str, ...] = ()
    by_symptom: bool = False
    """Whether the verdict is by the symptom alone: the numbers before and after cannot be compared."""
    best: str = ""
    """What takes the gain at the end back: the best value became worse."""

    @property
    def text(self) -> str:
        """The verdict with its numbers, in one line."""
        if self.by_symptom:
            return f"{self.word}: {'the symptom is gone' if self.word == 'helped' else 'the symptom stays'}"
        if not self.pairs:
            return f"{self.word}: nothing could be compared"
        before = [pair.before.value for pair in self.pairs]
        after = [pair.after.value for pair in self.pairs]
        change = f"{self.by.words} {_mean(before)} -> {_mean(after)}{self.best}"
        if len(self.pairs) == 1:
            return f"{self.word}: {change} (one pair)"
        better = sum(gain > 0 for gain in gains_of(self.by, self.pairs)[0])
        interval = (
            f", gain {self.gain:.0%} [{self.difference.low:.0%}, {self.difference.high:.0%}]"
            if math.isfinite(self.difference.low)
            else ""
        )
        return (
            f"{self.word}: {change}, better in {better} of {len(self.pairs)} pairs{interval}, "
            f"p = {self.difference.p:.2g}"
        )


def _mean(values: Sequence[float]) -> str:
    mean, broken = finite_mean(values), sum(not math.isfinite(value) for value in values)
    if mean is None:
        return "not finite"
    return f"{mean:.4g} ({broken} not finite)" if broken else f"{mean:.4g}"


def judge(by: Yardstick, pairs: Sequence[Pair]) -> TrialVerdict:
    """Helped or hurt only where every pair says so beyond its own noise, or the exact test is sure."""
    gains, noise = gains_of(by, pairs)
    difference = paired(gains, [0.0] * len(gains))
    if len(gains) == 1:
        difference = within((gains[0], noise[0]), (0.0, 0.0))
    mean = sum(gains) / len(gains) if gains else 0.0
    return TrialVerdict(_word(gains, noise, difference), by, tuple(pairs), mean, difference)


def _word(gains: Sequence[float], noise: Sequence[float], difference: Difference) -> Word:
    if not gains:
        return "cannot tell"
    mean, error = sum(gains) / len(gains), math.hypot(*noise) / len(noise)
    worth = max(_WORTH, _CLEAR * error)
    sure = difference.p <= 0.05 and len(gains) >= 5
    if mean > worth and (all(g > 0 for g in gains) or sure):
        return "helped"
    if mean < -worth and (all(g < 0 for g in gains) or sure):
        return "hurt"
    if abs(mean) <= _SAME and max(map(abs, gains)) <= 2 * _SAME:
        return "no difference"
    return "cannot tell"


def by_symptom(verdict: TrialVerdict, before: Diagnosis, after: Diagnosis, *, whole: bool) -> TrialVerdict:
    """The verdict where the numbers say nothing: whether the symptom is gone and no other came.

    A run shorter than the whole that does not show it may be too short to show it; the proof will decide.
    """
    symptom_gone, fresh = changed_symptoms(before, after)
    good = (symptom_gone or (symptom_gone is None and not whole)) and not fresh
    word: Word = "helped" if good else "no difference"
    return replace(verdict, word=word, symptom_gone=symptom_gone, new_problems=fresh, by_symptom=True)


def by_the_best(verdict: TrialVerdict, pairs: Sequence[tuple[Run, Run]]) -> TrialVerdict:
    """Not helped where only the end is better: the best value, which a checkpoint keeps, became worse."""
    worse = best_is_worse(pairs) if verdict.word == "helped" and verdict.by.name.startswith("val/") else None
    if worse is None:
        return verdict
    return replace(verdict, word="hurt", best=f" at the end, but {worse.best_text}")


def symptoms_of(diagnosis: Diagnosis) -> set[str]:
    """The symptoms of every problem worth acting on."""
    return {symptom for problem in acute(diagnosis) for symptom in (problem.symptom, *problem.also)}


def changed_symptoms(before: Diagnosis, after: Diagnosis) -> tuple[bool | None, tuple[str, ...]]:
    """Whether the first symptom is gone, and which are new; None where the new run is too short to say."""
    old, new = symptoms_of(before), symptoms_of(after)
    fresh = tuple(sorted(new - old))
    if not before.problems:
        return None, fresh
    first = before.problems[0].symptom
    if after.verdict == "insufficient_evidence" and first not in new:
        return _looked_for(before, after) or None, fresh
    return first not in new, fresh


def _looked_for(before: Diagnosis, after: Diagnosis) -> bool:
    """Whether every finding of the first problem was checked again and not found."""
    ran = {check.check: check.seen for check in after.coverage if check.status == "ran"}
    return all(ran.get(finding.id) is False for finding in before.problems[0].findings)
