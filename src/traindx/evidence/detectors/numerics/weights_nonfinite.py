"""The norm of the weights is NaN or Inf.

Weights that hold a NaN never recover, so the run is lost from that step on. A value that is finite again
later was a slip of the log: a sign only.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import run

DETECTOR = Detector(title="Weights NaN or Inf", family="nonfinite")


def detect(weight_norm: Curve, *, bad_streak: int = 2) -> Detected:
    if not weight_norm.broken:
        return None
    values, steps = weight_norm.series.values, weight_norm.series.steps
    to_the_end = int(np.argmax(weight_norm.finite[::-1])) if weight_norm.finite.any() else values.size
    lost = to_the_end >= bad_streak or (
        to_the_end and weight_norm.broken == to_the_end and values.size > bad_streak
    )
    first = float(steps[values.size - to_the_end] if lost else steps[np.argmin(weight_norm.finite)])
    kind = "NaN" if np.isnan(values[~weight_norm.finite]).any() else "Inf"
    how_long = "and never finite again" if lost else f"at {weight_norm.broken} of {values.size} points"
    return Finding(
        text=f"The weight norm is {kind} from {where(weight_norm, first)} on, {how_long}."
        if lost
        else f"The weight norm is {kind} {how_long}, first at {where(weight_norm, first)}, and finite later.",
        symptom="nonfinite" if lost else None,
        severity="critical" if lost else "low",
        step=first,
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
