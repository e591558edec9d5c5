"""The first NaN or Inf is an overflow of half precision.

Told by the autograd graph of the step: a product in fp16 left its range (65,504), which fp32 and bf16 hold
with ease. Less clear when loss and gradients had grown before it.

Silent about overflows in full precision, and about scaled gradients that overflow now and then, which is
how a loss scale is found.
"""

from traindx.evidence.detector import Detected, Detector, Runs
from traindx.evidence.detectors._origin import RecordedOrigin
from traindx.evidence.detectors.numerics.nan_after_growth import _run

DETECTOR = Detector(title="NaN from the range of half precision", family="nan_origin")


def detect(origin: RecordedOrigin, *, doubtful_strength: float = 0.6) -> Detected:
    if origin.kind != "half" or "scaled gradients" in origin.operation:
        return None
    phrase = f"before it {origin.grown}" if origin.grown else "loss and gradients were ordinary before it"
    return origin.finding(f"{origin.said}; {phrase}.", doubtful_strength if origin.grown else 1.0)


def fires() -> Runs:
    yield _run([2.0, 1.5, 1.2, 1.1], "float16 overflow in matrix product (largest 65504)")


def silent() -> Runs:
    yield _run([1.0, 40.0, 3e5, 1e14], "float32 overflow in matrix product (largest 3.4028e+38)")
    yield _run([2.0, 1.5, 1.2, 1.1], "float16 overflow of scaled gradients", "backward")
