"""The gradient norm spikes where the loss spikes.

A sign: huge gradients reach the optimizer together with, or just before, the spikes of the loss. Seen when at
least half of the loss's spikes have a gradient norm {norm_factor} times its median within {distance_points}
points, and far more than would coincide by accident.

Silent without spikes of the loss.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._spiking import expected_together, loss_jumps, together
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Gradients spike with the loss", family="spike_partner")


def detect(
    loss: Curve, grad_norm: Curve, *, norm_factor: float = 3.0, distance_points: float = 2.0
) -> Detected:
    if len(loss) < 30 or len(grad_norm) < 30:
        return Skipped("at least 30 values of the loss and of the gradient norm")
    jumps = [jump.step for jump in loss_jumps(loss)]
    if not jumps:
        return Skipped()
    near = distance_points * float(np.median(np.diff(grad_norm.x)) or 1.0)
    local = np.interp(grad_norm.x, grad_norm.coarse.step, grad_norm.coarse.median)
    high = grad_norm.x[grad_norm.y > norm_factor * local]
    met = together(jumps, high, near)
    accident = expected_together(len(jumps), int(high.size), near, float(grad_norm.x[-1] - grad_norm.x[0]))
    if met < max(1, 0.5 * len(jumps)) or met < 3 * accident:
        return None
    text = f"At {met} of {len(jumps)} loss spikes the gradient norm is over {norm_factor:g} times its level."
    return Finding(
        text, step=jumps[0], series=grad_norm.name, numbers={"grad_peak": float(grad_norm.y.max())}
    )


def fires() -> Runs:
    loss, norm = noisy(decay(300, 3.0, 1.0), 0.03), noisy([1.0] * 300, 0.1, seed=1)
    loss[[150, 220]] *= 6
    norm[[149, 220]] *= 40
    yield run({"loss": loss, "grad_norm": norm})


def silent() -> Runs:
    loss, norm = noisy(decay(300, 3.0, 1.0), 0.03), noisy([1.0] * 300, 0.1, seed=1)
    yield run({"loss": loss, "grad_norm": norm})
    loss = loss.copy()
    loss[[150, 220]] *= 6
    yield run({"loss": loss, "grad_norm": norm})
