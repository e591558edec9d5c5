"""How fast it trains, and where the time goes.

The middle step, samples per second, and the shares of waiting for data, forward, backward and optimizer.
Fails when the training mostly waits for data.
"""

from __future__ import annotations

import numpy as np

from traindx.core.nouns import Number
from traindx.evidence.case import Case
from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight

ITEM = Item(title="Throughput and where time goes", group="machine", order=1)
_PARTS = {
    "data_wait_s": "waiting for data",
    "forward_s": "forward",
    "backward_s": "backward",
    "optimizer_s": "optimizer",
}


def look(flight: Flight) -> Answer:
    case = flight.undisturbed
    pace = middle(case, "step_s") if case is not None else None
    if case is None or pace is None or pace <= 0:
        return unknown(flight.why_not(UNTOUCHED) or "no step was timed")
    numbers: dict[str, Number] = {"step_s": pace, "steps_per_s": 1 / pace, "threads": flight.threads}
    text = f"{pace * 1000:.3g} ms a step"
    batch = case.number("batch_size")
    if batch:
        numbers["samples_per_s"] = batch / pace
        text += f", {batch / pace:,.0f} samples/s"
    shares = {name: share for name in _PARTS if (share := _share(case, name, pace)) is not None}
    if shares:
        rest = max(0.0, 1.0 - sum(shares.values()))
        listed = ", ".join(f"{_PARTS[name]} {share:.0%}" for name, share in shares.items())
        text += f"; {listed}, other {rest:.0%}"
        numbers.update(
            {name.removesuffix("_s") + "_share": round(share, 3) for name, share in shares.items()}
        )
    found = flight.trouble("data_wait")
    if found is not None:
        return from_finding(flight, found, **numbers)
    return passed(f"{text} ({flight.threads} thread{'s' if flight.threads != 1 else ''}).", **numbers)


def middle(case: Case, name: str) -> float | None:
    """The middle of a time, the first steps left out: they warm up."""
    curve = case.curve(name)
    if curve is None or len(curve) < 3:
        return None
    return float(np.median(curve.y[min(5, len(curve) // 3) :]))


def _share(case: Case, name: str, pace: float) -> float | None:
    part = middle(case, name)
    return min(1.0, part / pace) if part is not None else None
