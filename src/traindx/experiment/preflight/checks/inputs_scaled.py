"""Inputs vary and are of ordinary size where they enter the model.

Mean, spread, extremes and the ratio between the widest and the narrowest feature. Fails when they are far
from zero, large, or on scales a thousand times apart, and nothing in the model normalises them.
"""

from __future__ import annotations

from traindx.core.number_text import short
from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight, first_value

ITEM = Item(title="Inputs are scaled sensibly", group="data", order=2)


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    found = flight.trouble("inputs_constant", "inputs_unscaled")
    names = ("mean", "std", "min", "max", "scale_ratio")
    seen = {name: value for name in names if (value := first_value(case, f"input/{name}")) is not None}
    if found is not None:
        return from_finding(flight, found, **seen)
    if "mean" not in seen or "std" not in seen:
        kinds = case.inside.models
        why = "the inputs of the model could not be looked at"
        if kinds and any(model.get("embeddings") for model in kinds):
            return passed("the inputs are whole numbers (tokens), which have no scale.")
        return unknown(why)
    hint = flight.findings.get("inputs_unscaled")
    text = f"mean {short(seen['mean'])}, spread {short(seen['std'])}"
    if "min" in seen and "max" in seen:
        text += f", from {short(seen['min'])} to {short(seen['max'])}"
    if hint is not None:
        text += f"; worth a look: {hint.text[:1].lower()}{hint.text[1:]}"
    return passed(text if text.endswith(".") else f"{text}.", **seen)
