"""At the start, every layer gets a gradient of like size.

The gradient norm of each layer at the first look. Fails when gradients fade or surge on their way back to
the input, are exactly zero from some layer on, or are zero everywhere.
"""

from __future__ import annotations

from traindx.core.number_text import short
from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight

ITEM = Item(title="Initial gradients are healthy", group="start", order=4)
_DETECTORS = (
    "gradients_none",
    "gradients_cut",
    "layer_gradients_fade",
    "layer_gradients_surge",
    "grad_explodes",
    "grad_vanishes",
)


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    found = flight.trouble(*_DETECTORS)
    if found is not None:
        return from_finding(flight, found)
    norms = {name: float(c.y[0]) for name, c in case.inside.layers("grad_norm").items() if len(c)}
    if not norms:
        return unknown("no layer's gradient could be looked at")
    small, large = min(norms, key=lambda name: norms[name]), max(norms, key=lambda name: norms[name])
    return passed(
        f"norms from {short(norms[small])} ({small}) to {short(norms[large])} ({large}); "
        f"{len(norms)} layers.",
        layers=len(norms),
        smallest=norms[small],
        largest=norms[large],
    )
