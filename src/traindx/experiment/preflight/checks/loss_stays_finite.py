"""The first steps train: loss and gradients stay finite, and the loss does not run away.

The loss of the untouched arm from its first to its last step.
"""

from __future__ import annotations

import numpy as np

from traindx.core.number_text import short
from traindx.experiment.preflight.check import Answer, Item, failed, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight

ITEM = Item(title="The first steps train", group="learning", order=1)
_DETECTORS = (
    "nan_from_start",
    "nan_after_rise",
    "nan_out_of_nothing",
    "loss_nonfinite",
    "grad_nonfinite",
    "weights_nonfinite",
    "loss_masked_nan",
    "loss_diverges",
    "grad_explodes",
)

_LEAST = 5


def look(flight: Flight) -> Answer:
    case = flight.untouched
    attempt = flight.attempts.get(UNTOUCHED)
    if case is None or attempt is None:
        return unknown(flight.why_not(UNTOUCHED))
    if attempt.ended == "crashed":
        return failed(
            f"the script broke after {attempt.steps:,} steps: {attempt.said}",
            do="Mend the error first.",
            steps=attempt.steps,
        )
    found = flight.trouble(*_DETECTORS)
    if found is not None:
        return from_finding(flight, found)
    loss = flight.losses(UNTOUCHED)
    if not loss.size:
        return unknown("no training loss was seen")
    finite = loss[np.isfinite(loss)]
    if not finite.size:
        return failed(
            "the loss is not finite from the first step.", do="Look at the first NaN with 'traindx run'."
        )
    if loss.size < _LEAST:
        return unknown(f"{loss.size} steps are too few to tell")
    few = max(1, min(10, finite.size // 4))
    start, end = float(np.median(finite[:few])), float(np.median(finite[-few:]))
    return passed(
        f"loss {short(start)} → {short(end)} in {loss.size:,} steps.",
        start=start,
        end=end,
        steps=int(loss.size),
    )
