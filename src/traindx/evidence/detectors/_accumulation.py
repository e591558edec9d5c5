"""How many backward calls and batches make a step, as the recorder counted them."""

from __future__ import annotations

from dataclasses import dataclass

from traindx.core.facts import number
from traindx.evidence.case import Case

_COUNTED = ("backwards", "batches", "steps_with_several", "steps_with_thrown")


@dataclass(frozen=True)
class AccumulatedSteps:
    """Backward calls and batches a step, and the share of steps that threw gradients away.

    `share` is what backward gets of what the loss function gave; None when that is not known.
    """

    backwards: float
    batches: float
    several: float
    wasteful: float
    share: float | None


def accumulation(case: Case, steps: int) -> AccumulatedSteps | None:
    """None when there is none, or when several optimizers take turns: their calls cannot be told apart."""
    recorded_fact = case.inside.fact("accumulation")
    total = number(recorded_fact, "steps") or 0.0
    if total < steps or len(case.inside.optimizers) > 1:
        return None
    backwards, batches, several, wasteful = ((number(recorded_fact, key) or 0.0) / total for key in _COUNTED)
    return AccumulatedSteps(backwards, batches, several, wasteful, number(recorded_fact, "share"))


def sketched(**counts: float) -> dict[str, object]:
    """The facts of a run that accumulates, for the cases of detectors."""
    defaults = {"steps": 24, "steps_with_several": 24, "backwards": 96, "batches": 96, "thrown": 0}
    return {
        "optimizers": [{"class": "SGD"}],
        "losses": [{"function": "cross_entropy", "reduction": "mean"}],
        "accumulation": {**defaults, "steps_with_thrown": 0, "share": 1.0, **counts},
    }
