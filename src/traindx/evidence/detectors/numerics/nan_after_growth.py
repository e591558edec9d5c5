"""Values grew beyond the range of numbers: the first NaN or Inf is an overflow of plain products.

Told by the autograd graph of the step: no operation was at its edge and no data were bad; weights,
activations or gradients had become too large. The steps overshoot, or gradients explode.

Silent when arithmetic, data or half precision made it, when the very first forward pass overflowed, and
when one gradient leapt out of a long calm (nan_after_burst).
"""

from traindx.evidence.detector import Detected, Detector, Event, Run, Runs
from traindx.evidence.detectors._origin import RecordedOrigin
from traindx.testing.sketch import run

DETECTOR = Detector(title="NaN after growth", family="nan_origin")


def detect(origin: RecordedOrigin, *, doubtful_strength: float = 0.6) -> Detected:
    if origin.kind != "growth" and not (origin.kind in ("arithmetic", "half") and origin.grown):
        return None
    if origin.burst and origin.kind == "growth":
        return None
    phrase = f"before it {origin.grown}" if origin.grown else "no growth was logged before it"
    return origin.finding(f"{origin.said}; {phrase}.", 1.0 if origin.kind == "growth" else doubtful_strength)


def _run(losses: list[float], operation: str, where: str = "forward") -> Run:
    step = float(len(losses) - 1)
    event = Event("nonfinite", f"{operation} in layer 4", step, {"where": where, "operation": operation})
    return run({"loss": [*losses, float("nan")]}, events=[event], facts={"version": 2})


def fires() -> Runs:
    yield _run([1.0, 40.0, 3e5, 1e14], "float32 overflow in matrix product (largest 3.4028e+38)")
    yield _run([1.0, 40.0, 3e5, 1e14], "", "weights")


def silent() -> Runs:
    yield _run([2.0, 1.5, 1.2, 1.1], "log of 0", "loss")
    yield _run([2.0, 1.5, 1.2, 1.1], "matrix product", "input")
