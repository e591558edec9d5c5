"""Whether a training needs what an arm took away from it: its inputs, or its labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traindx.core.nouns import Number
from traindx.core.number_text import short
from traindx.evidence.case import Case
from traindx.experiment.preflight.arm_differences import ArmDifference, arm_difference, still_falling
from traindx.experiment.preflight.check import CheckAnswer, failed, passed, unknown
from traindx.experiment.preflight.observations import UNTOUCHED, Flight
from traindx.experiment.preflight.planned_length import batches_of_epoch

_SURE, _MOSTLY, _WORTH = 4.0, 0.9, 0.02
_SAME, _CLEARLY = 0.01, 2.5
_STEPS_LEAST = 200


@dataclass(frozen=True)
class Wording:
    """`changed`: how the other arm was trained; `nothing`: what a failure means."""

    changed: str
    nothing: str
    do: str
    cause: str


def judged(flight: Flight, arm: str, words: Wording) -> CheckAnswer:
    """Passes when the other arm does clearly worse; fails when both have come to rest at the same level."""
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    if flight.case(arm) is None:
        return unknown(flight.why_not(arm))
    if case.surrogate or len(case.inside.optimizers) > 1:
        return unknown("several optimizers or a surrogate loss: its level says nothing")
    losses, other_losses = flight.losses(UNTOUCHED), flight.losses(arm)
    apart = arm_difference(losses, other_losses)
    if apart is None:
        steps = min(losses.size, other_losses.size)
        return unknown(f"{steps} common steps are too few to decide, or the loss is not finite")
    numbers: dict[str, Number] = {
        "loss": apart.first,
        "loss_changed": apart.other,
        "gap": apart.gap,
        "z": round(apart.z, 2),
        "steps": apart.steps,
    }
    text = f"loss {short(apart.first)}, {short(apart.other)} {words.changed}, after {apart.steps:,} steps"
    if (apart.z >= _SURE or apart.above >= _MOSTLY) and apart.share >= _WORTH:
        return passed(f"{text}.", **numbers)
    if _at_rest(case, losses[: apart.steps], apart):
        return failed(f"{text}: {words.nothing}.", do=words.do, cause=words.cause, **numbers)
    return unknown(f"{text}: no clear difference yet.", **numbers)


def _at_rest(case: Case, losses: np.ndarray, apart: ArmDifference) -> bool:
    """Whether both have stopped at one level, long enough to believe it."""
    if apart.steps < _STEPS_LEAST or apart.z > _CLEARLY or abs(apart.share) > _SAME or still_falling(losses):
        return False
    batches = batches_of_epoch(case)
    return batches is not None and apart.steps >= 2 * batches
