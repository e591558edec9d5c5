"""The very first logged loss is NaN or Inf.

A sign that separates causes: no step of the optimizer is needed. Labels that are all masked, a mean over
nothing, log(0), a bad first batch or values beyond half precision give it; a rate that overshoots needs
steps first. It speaks less clearly when the first line was logged after many steps, or at the end of an
epoch.

Silent when a finite loss comes first (see nan_out_of_nothing and nan_after_rise).
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="NaN from the first value", family="nan_onset")


def detect(loss: Curve, *, certain_until: float = 2.0, doubtful_from: float = 20.0) -> Detected:
    if not loss.broken:
        return Skipped()
    if loss.finite[0]:
        return None
    first = float(loss.series.steps[0])
    finite = f"{len(loss):,} of {loss.finite.size:,} values are finite"
    sentence = f"The first logged loss, at {where(loss, first)}, is already not finite; {finite}."
    return Finding(sentence, step=first, strength=_clarity(loss, first, certain_until, doubtful_from))


def _clarity(loss: Curve, first: float, early: float, late: float) -> float:
    """How little can have happened before the first value."""
    if loss.axis == "step":
        return 1.0 if first <= early else 0.7 if first <= late else 0.4
    steps = loss.series.steps
    gap = float(np.median(np.diff(steps))) if steps.size > 1 else 1.0
    if loss.axis == "epoch" and gap < 0.5 and first < 0.05:
        return 1.0
    return 0.7 if loss.axis == "row" else 0.5


def fires() -> Runs:
    yield run({"loss": [float("nan")] * 20})
    yield run({"loss": [float("inf"), 3.0, 2.0, 1.5, 1.2]})
    yield run({"loss": [float("nan")] * 5, "accuracy": [0.1] * 5}, axis="epoch")


def silent() -> Runs:
    yield run({"loss": [2.3, *[float("nan")] * 20]})
    yield run({"loss": decay(50, 2.0, 0.5)})
