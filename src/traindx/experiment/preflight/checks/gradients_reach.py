"""A gradient reaches every trainable parameter.

Told by the graph of the first loss and by the gradients of the first steps. Fails when a part that counts
is cut off from the loss, or when no gradient flows at all. Small unused parts are told and are no
failure.
"""

from __future__ import annotations

from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight, told

ITEM = Item(title="Gradients reach every trainable parameter", group="gradients", order=1)
_DETECTORS = ("parameters_without_gradient", "no_gradient_at_all", "gradients_none", "gradients_cut")


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    found = flight.trouble(*_DETECTORS)
    if found is not None:
        return from_finding(flight, found)
    reach = case.inside.fact("reach")
    parameters, outside = told(reach, "parameters"), told(reach, "outside")
    if parameters is None:
        return unknown("the graph of the first loss was not seen")
    elements = told(reach, "elements") or 0.0
    frozen = sum(
        int(count)
        for model in case.inside.models
        if isinstance(part := model.get("frozen"), dict) and isinstance(count := part.get("count"), int)
    )
    text = f"{parameters:,.0f} tensors of {elements:,.0f} numbers are behind the loss"
    if outside:
        text += f"; {outside:.0f} that the optimizer holds are not"
    if frozen:
        text += f"; {frozen} are frozen"
    return passed(f"{text}.", parameters=parameters, elements=elements, outside=outside or 0, frozen=frozen)
