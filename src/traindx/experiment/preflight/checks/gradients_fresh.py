"""Each step uses the gradients of its own batches, whole and unscaled.

Fails when gradients of the step before are still there, are cleared before the step, when accumulated
ones are lost or not divided, or when clipping and steps act on scaled ones.
"""

from __future__ import annotations

from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight, told

ITEM = Item(title="Steps use fresh, whole gradients", group="gradients", order=3)
_DETECTORS = (
    "gradients_not_zeroed",
    "gradients_cleared_before_step",
    "accumulation_discarded",
    "accumulation_undivided",
    "clip_before_unscale",
    "steps_on_scaled_gradients",
    "fp16_without_scaler",
    "scheduler_before_optimizer",
)


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    found = flight.trouble(*_DETECTORS)
    if found is not None:
        return from_finding(flight, found)
    if not flight.looked(*_DETECTORS[:2]):
        return unknown("the gradients before a step could not be looked at")
    steps = case.run.last_step or 0
    several = told(case.inside.fact("accumulation"), "backwards")
    looks = case.inside.layers("grad_norm")
    count = max((len(curve) for curve in looks.values()), default=0)
    return passed(
        f"nothing was left over or lost in {steps:,.0f} steps ({count} looked into).",
        looks=count,
        backwards=several or 0,
    )
