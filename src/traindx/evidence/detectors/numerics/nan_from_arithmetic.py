"""The first NaN or Inf was made by arithmetic out of finite numbers.

Told by the autograd graph of the step: log at 0, a division by 0, a root at 0 (whose slope is infinite),
exp beyond the range, a softmax over a row that is masked whole. Batch, weights and gradients were finite
before it. Clearer when loss and gradients had not grown before it: else growth drove the arithmetic to its
edge.

Silent about overflows of plain products, which need growth, and about half precision.
"""

from traindx.evidence.detector import Detected, Detector, Runs
from traindx.evidence.detectors._origin import RecordedOrigin
from traindx.evidence.detectors.numerics.nan_from_input import _run

DETECTOR = Detector(title="NaN was made by arithmetic", family="nan_origin")


def detect(origin: RecordedOrigin, *, doubtful_strength: float = 0.6) -> Detected:
    if origin.kind not in ("arithmetic", "constant"):
        return None
    phrase = f"before it {origin.grown}" if origin.grown else "loss and gradients were ordinary before it"
    if origin.kind == "constant":
        phrase = "the batch itself is finite, so the script made it of the data"
    return origin.finding(f"{origin.said}; {phrase}.", doubtful_strength if origin.grown else 1.0)


def fires() -> Runs:
    yield _run("loss", "log of 0")
    yield _run("backward", "sqrt at 0")
    yield _run("input", "multiplication", batch_nonfinite=0)


def silent() -> Runs:
    yield _run("input", "matrix product", batch_nonfinite=1)
    yield _run("forward", "float32 overflow in matrix product (largest 3.4028e+38)")
