"""The gradient norm is next to nothing where the loss stands still, far from zero.

Where a loss has stopped, batches still pull the weights this way and that: the gradient norm keeps a size
that goes with the loss, mostly 0.1 to 10. Seen when its median since the loss stopped is under a fiftieth of
the loss and either under a tenth of what it was at first or under 0.01, and {loss_left} of the first loss or
more is left: something blocks the gradient (saturated or dead units, a deep plain stack), or the weights rest
at a saddle point or in a flat region.

Silent where the loss does not stand, where it came down, and for reinforcement learning and GANs.
Known mistakes: full-batch training at a true minimum has no gradient either.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Stands without a gradient", family="gradient_size", guards=("surrogate",))


def detect(
    case: Case,
    loss: Curve,
    grad_norm: Curve,
    *,
    loss_left: float = 0.3,
    min_points: int = 8,
) -> Detected:
    stop = case.harm.standstill
    if stop is None:
        return Skipped()
    norm = case.harm.norm_at_standstill
    if norm is None or not stop.level > 0:
        return Skipped("the gradient norm where the loss stands")
    if not case.harm.gradient_gone or stop.level < loss_left * abs(loss.head):
        return None
    return Finding(
        f"The gradient norm is {text(norm)} where the loss stands at {text(stop.level)} (since "
        f"{where(loss, stop.since)}); usual are 0.1 to 10. Something blocks the gradient, or this is a "
        "saddle point or a flat region.",
        step=stop.since,
        series=grad_norm.name,
        numbers={"grad_norm": norm, "last_value": stop.level},
    )


def fires() -> Runs:
    flat = noisy([*np.linspace(2.3, 1.4, 30), *[1.4] * 120], 0.01)
    yield run({"loss": flat, "grad_norm": noisy([*np.linspace(1.0, 0.002, 30), *[0.002] * 120], 0.2)})


def silent() -> Runs:
    flat = noisy([*np.linspace(2.3, 1.4, 30), *[1.4] * 120], 0.01)
    yield run({"loss": flat, "grad_norm": noisy([0.8] * 150, 0.2)})
    low = noisy(decay(150, 2.0, 0.02, rate=20), 0.02)
    yield run({"loss": low, "grad_norm": noisy([1e-4] * 150, 0.2)})
