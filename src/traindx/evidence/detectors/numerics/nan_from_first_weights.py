"""The very first forward or backward pass overflows: the weights were made too large, or not at all.

Told by the autograd graph of the first step: no update was made yet, the data are of an ordinary size, and
a plain product leaves the range of numbers, or the weights hold NaN from the start (memory that nobody
filled).

Silent about data that are huge themselves, arithmetic at its edge, and half precision.
"""

from traindx.evidence.detector import Detected, Detector, Event, Run, Runs
from traindx.evidence.detectors._origin import RecordedOrigin
from traindx.testing.sketch import run

DETECTOR = Detector(title="NaN from the first weights", family="nan_origin")


def detect(origin: RecordedOrigin) -> Detected:
    if origin.kind != "init":
        return None
    return origin.finding(
        f"{origin.said}; no step had been taken yet (0 updates), so the weights were made that way."
    )


def _run(step: float, where: str, operation: str) -> Run:
    told = {"where": where, "operation": operation, "batch": step + 1, "input": {"min": -3.0, "max": 3.0}}
    event = Event("nonfinite", f"{operation} in layer 4", step, told)
    return run({"loss": [float("inf")] * 20}, events=[event], facts={"version": 2})


def fires() -> Runs:
    yield _run(0.0, "loss", "float32 overflow in mse loss (largest 3.4028e+38)")
    yield _run(0.0, "weights", "")


def silent() -> Runs:
    yield _run(0.0, "loss", "log of 0")
    yield _run(9.0, "loss", "float32 overflow in mse loss (largest 3.4028e+38)")
