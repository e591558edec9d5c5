"""The gradient norm spikes where the loss spikes.

A sign: huge gradients reach the optimizer together with, or just before, the spikes of the loss. Seen
when at least half of the loss's spikes have a gradient norm `factor` times its median within `reach`
points, and far more than would coincide by accident.

Silent without spikes of the loss.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._spiking import expected_together, loss_jumps, together
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Gradients spike with the loss", needs=("loss", "grad_norm"), family="spike_partner"
)


def detect(case: Case, *, factor: float = 3.0, reach: float = 2.0) -> Detected:
    loss, norm = case.loss, case.grad_norm
    if loss is None or norm is None or len(loss) < 30 or len(norm) < 30:
        return Skipped("at least 30 values of the loss and of the gradient norm")
    jumps = [jump.step for jump in loss_jumps(loss)]
    if not jumps:
        return Skipped()
    near = reach * float(np.median(np.diff(norm.x)) or 1.0)
    local = np.interp(norm.x, norm.coarse.step, norm.coarse.median)
    high = norm.x[norm.y > factor * local]
    met = together(jumps, high, near)
    accident = expected_together(len(jumps), int(high.size), near, float(norm.x[-1] - norm.x[0]))
    if met < max(1, 0.5 * len(jumps)) or met < 3 * accident:
        return None
    text = (
        f"At {met} of {len(jumps)} spikes of the loss the gradient norm is over {factor:g} times its level."
    )
    return Finding(
        text, severity="low", step=jumps[0], series=norm.name, numbers={"grad_peak": float(norm.y.max())}
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
