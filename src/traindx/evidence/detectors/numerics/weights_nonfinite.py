"""The norm of the weights is NaN or Inf.

Weights that hold a NaN never recover, so the run is lost from that step on. A value that is finite again
later was a slip of the log: a sign only.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import run

DETECTOR = Detector(title="Weights NaN or Inf", needs=("weight_norm",), family="nonfinite")


def detect(case: Case, *, streak: int = 2) -> Detected:
    norms = case.curve("weight_norm")
    if norms is None:
        return Skipped("the weight norm")
    if not norms.broken:
        return None
    values, steps = norms.series.values, norms.series.steps
    to_the_end = int(np.argmax(norms.finite[::-1])) if norms.finite.any() else values.size
    lost = to_the_end >= streak or (to_the_end and norms.broken == to_the_end and values.size > streak)
    first = float(steps[values.size - to_the_end] if lost else steps[np.argmin(norms.finite)])
    kind = "NaN" if np.isnan(values[~norms.finite]).any() else "Inf"
    how_long = "and never finite again" if lost else f"at {norms.broken} of {values.size} points"
    return Finding(
        text=f"The weight norm is {kind} from {where(norms, first)} on, {how_long}."
        if lost
        else f"The weight norm is {kind} {how_long}, first at {where(norms, first)}, and finite later.",
        symptom="nonfinite" if lost else None,
        severity="critical" if lost else "low",
        step=first,
        series=norms.name,
        strength=1.0 if lost else 0.3,
        numbers={"onset": first},
        marks=(first,),
    )


def fires() -> Runs:
    yield run({"weight_norm": [10.0, 10.1, 10.2, np.nan, np.nan, np.nan]})
    yield run({"weight_norm": [10.0, np.inf, 10.2, 10.3, 10.4]})


def silent() -> Runs:
    yield run({"weight_norm": [10.0, 10.1, 10.2]})
    yield run({"weight_norm": [1e30, 1e30]})
