"""The same seed gives the same training.

The untouched arm is run twice. Passes when all losses are the same, bit for bit or within rounding. Fails
when they part early and clearly: something draws from a source of randomness that no seed reaches.
"""

from __future__ import annotations

import numpy as np

from traindx.experiment.preflight.check import Answer, Item, failed, passed, unknown
from traindx.experiment.preflight.observations import AGAIN, UNTOUCHED, Flight

ITEM = Item(title="The same seed gives the same run", group="model", order=3)
_ROUNDING, _CLEAR = 1e-5, 1e-3
_EARLY = 20


def look(flight: Flight) -> Answer:
    first, second = flight.losses(UNTOUCHED), flight.losses(AGAIN)
    steps = min(first.size, second.size)
    if not steps:
        return unknown(flight.why_not(UNTOUCHED) or flight.why_not(AGAIN) or "no training loss was seen")
    a, b = first[:steps], second[:steps]
    with np.errstate(all="ignore"):
        apart = np.where(a == b, 0.0, np.abs(a - b) / np.maximum(np.abs(a), 1e-12))
    apart = np.where(np.isnan(a) & np.isnan(b), 0.0, apart)
    if not apart.any():
        return passed(f"{steps:,} losses are the same, bit for bit.", steps=steps, largest=0.0)
    largest, at = (
        float(np.nanmax(apart)),
        int(np.flatnonzero(apart > _ROUNDING)[0]) if (apart > _ROUNDING).any() else 0,
    )
    if largest <= _ROUNDING:
        return passed(
            f"{steps:,} losses are the same within rounding ({largest:.1g}).", steps=steps, largest=largest
        )
    early = float(np.nanmax(apart[:_EARLY]))
    text = f"two runs with the same seed part at step {at + 1:,}, by up to {largest:.2g} of the loss"
    if early > _CLEAR:
        return failed(
            f"{text}.",
            do="Seed every generator: random, numpy, torch, those of workers and your own.",
            steps=steps,
            largest=largest,
            step=at + 1,
        )
    return passed(f"{text}: rounding that grows.", steps=steps, largest=largest, step=at + 1)
