"""At the start, activations keep their scale from layer to layer, and units are alive.

The spread behind the first and the last layer, the share of zeros after ReLU, of saturated sigmoid and
tanh. Fails when the signal grows or dies on its way, units of a layer are dead or saturated, or the
initial weights are constant or far off the scale that their inputs ask for.
"""

from __future__ import annotations

from traindx.core.nouns import Number
from traindx.core.number_text import short
from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight

ITEM = Item(title="Initial activations are healthy", group="start", order=3)
_DETECTORS = (
    "init_constant",
    "init_scale_off",
    "signal_explodes",
    "signal_collapses",
    "units_dead",
    "units_saturated",
    "outputs_constant",
)


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    found = flight.trouble(*_DETECTORS)
    if found is not None:
        return from_finding(flight, found)
    spread = {
        name: float(curve.y[0]) for name, curve in case.inside.layers("activation_std").items() if len(curve)
    }
    if not spread:
        return unknown("no layer's output could be looked at")
    first, last = next(iter(spread)), list(spread)[-1]
    text = f"spread {short(spread[first])} behind {first}, {short(spread[last])} behind {last}"
    numbers: dict[str, Number] = {"layers": len(spread), "first": spread[first], "last": spread[last]}
    zeros = [c.y[0] for c in case.inside.layers("activation_zero_share").values() if len(c)]
    if zeros:
        numbers["zero_share"] = float(max(zeros))
        text += f"; at most {max(zeros):.0%} zeros"
    return passed(f"{text} ({len(spread)} looked at).", **numbers)
