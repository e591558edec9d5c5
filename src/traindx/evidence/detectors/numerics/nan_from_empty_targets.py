"""The first NaN is a mean over nothing: no target was left in the batch.

Told by the autograd graph of the step: every label of the batch is the ignored one or has weight 0, or a
mean is taken over an empty selection.

Silent when targets were there.
"""

from traindx.evidence.detector import Detected, Detector, Runs
from traindx.evidence.detectors._origin import RecordedOrigin
from traindx.evidence.detectors.numerics.nan_from_input import _run

DETECTOR = Detector(title="NaN of an empty mean", family="nan_origin")


def detect(origin: RecordedOrigin) -> Detected:
    if origin.kind != "empty":
        return None
    return origin.finding(f"{origin.said}.")


def fires() -> Runs:
    yield _run("loss", "mean loss over no targets (all of them are ignored or weigh 0)")


def silent() -> Runs:
    yield _run("loss", "log of 0")
    yield _run("input", "matrix product", batch_nonfinite=1)
