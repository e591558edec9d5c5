"""Each step sees another batch, mixed as the data are.

Samples are known again by a print of their values. Fails when one batch comes at every step although the
data hold more, when batches hold one class each, or when the workers of a loader give the same random
numbers.
"""

from __future__ import annotations

from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight, told

ITEM = Item(title="Batches differ", group="data", order=4)
_DETECTORS = ("batch_repeated", "labels_in_order", "worker_streams_equal", "rank_data_repeated")


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    found = flight.trouble(*_DETECTORS)
    if found is not None:
        return from_finding(flight, found)
    samples = case.inside.fact("samples")
    taken, distinct = told(samples, "taken"), told(samples, "distinct")
    if taken and distinct:
        again = told(samples, "twice_in_a_batch") or 0.0
        text = f"{distinct:,.0f} distinct among {taken:,.0f} samples looked at"
        if again:
            text += f", {again:,.0f} twice in one batch"
        return passed(f"{text}.", taken=taken, distinct=distinct, twice_in_a_batch=again)
    repeat = case.curve("input/repeat_share")
    if repeat is not None and len(repeat) >= 2:
        share = float(repeat.y[1:].mean())
        if share >= 0.99 and not case.inside.loaders:
            return unknown("every step sees the same batch; without a loader this may be all the data")
        return passed(f"{1 - share:.0%} of the samples are new from one look to the next.", repeated=share)
    return unknown("the batches could not be looked at")
