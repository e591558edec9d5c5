"""The batch is far smaller or larger than the noise of its gradients asks for.

The gradient noise scale is the batch size at which noise and signal of a gradient are equal (McCandlish et
al., 2018). Much smaller batches spend steps on noise; much larger ones spend samples on precision that
helps little. Seen when the batch is {factor} times below or above it. A sign: the scale grows during a
training, and is measured over few batches.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Run, Runs, Skipped, number
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Batch size and gradient noise", needs=("fact:loss_check",), family="batch_noise")


def detect(run: Run, *, factor: float = 10.0) -> Detected:
    fact = run.facts["loss_check"]
    scale, batch = number(fact, "noise_scale"), number(fact, "batch_size")
    if not scale or not batch:
        return Skipped("gradients of at least 4 batches")
    if batch / factor <= scale <= batch * factor:
        return None
    return Finding(
        text=f"The gradient noise scale is about {scale:.2g} samples, the batch has {batch:.0f}: "
        + ("larger batches would save steps." if scale > batch else "smaller batches would do as well."),
        numbers={"noise_scale": scale, "batch_size": batch},
    )


def _of(scale: float | None) -> Run:
    return sketched({}, facts={"loss_check": {"noise_scale": scale, "batch_size": 32}})


def fires() -> Runs:
    yield _of(5000.0)
    yield _of(0.5)


def silent() -> Runs:
    yield _of(40.0)
    yield _of(None)
