"""What the model gives is what the loss expects: shapes, logits or probabilities, reach.

Fails when shapes are stretched against each other (N outputs with N targets become N x N), when a softmax
or sigmoid stands before a loss that has its own, when logits are taken as probabilities, when the output
cannot reach the targets, or when the loss is negated.
"""

from __future__ import annotations

from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight

ITEM = Item(title="Output, loss and targets fit", group="start", order=2)
_DETECTORS = (
    "shapes_broadcast",
    "probabilities_as_logits",
    "logits_as_probabilities",
    "output_out_of_reach",
    "loss_negated",
    "classes_as_numbers",
    "layer_too_narrow",
)


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    found = flight.trouble(*_DETECTORS)
    if found is not None:
        return from_finding(flight, found)
    losses = case.inside.losses
    if not losses:
        return unknown("the loss is none of torch's own functions")
    one = losses[0]
    text = f"{one.get('function')} of {one.get('output_shape')} against {one.get('target_shape')}"
    after = one.get("after_layers")
    if isinstance(after, list) and after:
        text += f", the output straight from {after[0]}"
    more = f" and {len(losses) - 1} more" if len(losses) > 1 else ""
    return passed(f"{text}{more}.", losses=len(losses))
