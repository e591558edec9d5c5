"""Nothing that reaches the model is NaN or Inf.

Looks at every batch that is sampled, and at the largest value of each: a value a hundred times beyond the
usual batch is told as well. Integers (tokens, classes) are always finite.
"""

from __future__ import annotations

from traindx.evidence.inside import facts
from traindx.experiment.preflight.check import Answer, Item, failed, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight, told

ITEM = Item(title="Inputs are finite", group="data", order=1)


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    found = flight.trouble("input_outliers")
    if found is not None:
        return from_finding(flight, found)
    share = case.curve("input/nonfinite")
    bad = told(case.inside.fact("samples"), "nonfinite_batches") or 0.0
    looks = len(share) if share is not None else 0
    if bad or (share is not None and len(share) and float(share.y.max()) > 0):
        return failed(
            f"{max(int(bad), 1)} of the batches looked at hold NaN or Inf.",
            do="Find where they come from (a division, a log, an empty file) and mend or drop them.",
            cause="corrupt_batch",
            nonfinite_batches=max(int(bad), 1),
        )
    batches = told(case.inside.fact("samples"), "taken")
    if not looks and not batches and not facts(case.run.facts.get("models")):
        return unknown("no batch was seen on its way into a model")
    if not looks and not batches:
        return unknown("the inputs of the model could not be looked at")
    seen = f"{batches:,.0f} samples" if batches else f"{looks} batches"
    return passed(f"{seen} looked at, none with NaN or Inf.", samples=batches or 0, batches=looks)
