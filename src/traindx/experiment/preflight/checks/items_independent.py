"""The samples of a batch do not see each other inside the model.

The gradient of one sample's output with respect to the inputs of the others is zero, where it should be:
in eval mode always; in training mode batch normalisation makes samples depend on each other by design.
Whole numbers (tokens) have no gradient: there the other samples are exchanged instead, and the output
must stay.

Fails only where a loader tells how many samples a batch has: rows of one graph or the steps of one series
may well depend on each other.
"""

from __future__ import annotations

from traindx.core.nouns import Number
from traindx.experiment.preflight.check import Answer, Item, failed, passed, unknown
from traindx.experiment.preflight.observations import MEASURED, Flight, told

ITEM = Item(title="Batch items are independent", group="model", order=1)
_LEAK = 1e-4
_DO = (
    "Look for a wrong dimension: softmax, mean, norm or attention over the batch, a view or reshape that "
    "mixes samples, a recurrent layer or a transformer without batch_first=True."
)


def look(flight: Flight) -> Answer:
    measured = flight.measure("items")
    leak = told(measured, "leak_eval")
    if leak is None:
        return unknown(str(measured.get("why") or flight.why_not(MEASURED) or "it was not measured"))
    batch, training = told(measured, "batch") or 0.0, told(measured, "leak_train")
    norms = told(measured, "batch_norm") or 0.0
    numbers: dict[str, Number] = {
        "leak_eval": leak,
        "leak_train": leak if training is None else training,
        "batch": batch,
    }
    how = "gradient" if measured.get("how") == "gradient" else "change"
    if leak <= _LEAK:
        text = f"{how} of one of {batch:.0f} samples with respect to the others: {leak:.2g} of its own"
        if training is not None and training > _LEAK and norms:
            text += f"; {training:.2g} in training mode, by {norms:.0f} batch norm layers, as designed"
        elif training is not None and training > _LEAK:
            text += f"; {training:.2g} in training mode"
        return passed(f"{text}.", **numbers)
    said = f"one of {batch:.0f} samples depends on the others, {leak:.2g} as much as on its own input"
    if not measured.get("certain"):
        return unknown(f"{said}; whether rows are samples is not known.", **numbers)
    return failed(f"{said}, in eval mode.", do=_DO, cause="", **numbers)
