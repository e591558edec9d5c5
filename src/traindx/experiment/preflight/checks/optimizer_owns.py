"""The optimizer holds every trainable parameter of the loss, and steps.

The parameters behind the first loss against those that the optimizers hold. Fails when a part that counts
is in none of them, when they hold another model's, or when no optimizer ever steps.
"""

from __future__ import annotations

from traindx.evidence.inside import words
from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight, told

ITEM = Item(title="The optimizer owns them", group="gradients", order=2)
_DETECTORS = (
    "optimizer_never_stepped",
    "optimizer_of_other_model",
    "parameters_not_held",
    "optimizer_state_lost",
    "weights_stand_still",
    "lr_zero",
)


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    found = flight.trouble(*_DETECTORS)
    if found is not None:
        return from_finding(flight, found)
    optimizers = case.inside.optimizers
    if not optimizers:
        return unknown("no optimizer of torch was seen")
    held = sum(told(one, "elements") or 0.0 for one in optimizers)
    names = ", ".join(dict.fromkeys(str(one.get("class", "?")) for one in optimizers))
    free = words(case.inside.fact("reach"), "free") if len(optimizers) == 1 else []
    text = f"{names} holds {held:,.0f} numbers"
    if len(optimizers) > 1:
        text = f"{len(optimizers)} optimizers ({names}) hold {held:,.0f} numbers"
    if free:
        text += f"; {len(free)} small or loaded parts of the loss are in none ({', '.join(free[:2])})"
    return passed(f"{text}.", optimizers=len(optimizers), held=held, free=len(free))
