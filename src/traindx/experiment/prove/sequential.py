"""When pairs of runs suffice: better, worse or no difference as soon as that is sure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from traindx.evidence.stats.differences import Difference, paired
from traindx.evidence.stats.student import t_reach

Answer = Literal["better", "worse", "no difference", "cannot tell"]


@dataclass(frozen=True)
class Rule:
    """How many pairs at least and at most, and what counts.

    Being wrong about the sign has the chance `risk` in all: it is divided among all evaluations of the
    pairs, and all candidates. Gains smaller than `worth` are none; within `margin` both ways is no
    difference.
    """

    least: int = 3
    most: int = 8
    risk: float = 0.05
    worth: float = 0.01
    margin: float = 0.03
    candidates: int = 1

    @property
    def confidence(self) -> float:
        """Of the interval at each evaluation of the pairs."""
        looks = max(1, self.most - self.least + 1)
        return 1.0 - self.risk / (looks * max(1, self.candidates))


QUICK, USUAL, SURE = Rule(2, 3, risk=0.1), Rule(), Rule(6, 16, risk=0.01, margin=0.02)


@dataclass(frozen=True)
class Decision:
    """`difference` has the usual interval (95 %) and the exact test of the gains."""

    answer: Answer
    final: bool
    difference: Difference


def decide(gains: Sequence[float], errors: Sequence[float], rule: Rule) -> Decision:
    """What the pairs say so far; `errors` are the standard errors of gains by the noise inside runs.

    Gains that are exactly equal in all pairs are no proof of a small spread: the noise inside runs counts
    as the least there is.
    """
    difference = paired(gains, [0.0] * len(gains))
    if len(gains) < min(2, rule.least):
        return Decision("cannot tell", False, difference)
    mean = sum(gains) / len(gains)
    reach = _reach(gains, errors, rule.confidence)
    enough, last = len(gains) >= rule.least, len(gains) >= rule.most
    answer: Answer = "cannot tell"
    if enough and mean > rule.worth and mean - reach > 0:
        answer = "better"
    elif enough and mean < -rule.worth and mean + reach < 0:
        answer = "worse"
    elif enough and max(abs(mean - reach), abs(mean + reach)) <= rule.margin:
        answer = "no difference"
    return Decision(answer, answer != "cannot tell" or last, difference)


def _reach(gains: Sequence[float], errors: Sequence[float], confidence: float) -> float:
    size = len(gains)
    mean = sum(gains) / size
    spread = math.sqrt(sum((gain - mean) ** 2 for gain in gains) / (size - 1)) if size > 1 else math.inf
    inside = math.sqrt(sum(error**2 for error in errors) / size)
    return t_reach(confidence, size - 1) * max(spread, inside) / math.sqrt(size)
