"""The gradient norm spikes where the loss spikes.

A sign: huge gradients reach the optimizer together with, or just before, the spikes of the loss. Seen when at
least half of the loss's spikes have a gradient norm {norm_factor} times its median within {distance_points}
points, and far more than would coincide by accident.

Silent without spikes of the loss.
"""

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._spiking import FEWEST, gradient_jumps, loss_jumps
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Gradients spike with the loss", family="spike_partner")


def detect(
    loss: Curve, grad_norm: Curve, *, norm_factor: float = 3.0, distance_points: float = 2.0
) -> Detected:
    if len(loss) < FEWEST or len(grad_norm) < FEWEST:
        return Skipped(f"at least {FEWEST} values of the loss and of the gradient norm")
    jumps = loss_jumps(loss)
    if not jumps:
        return Skipped()
    met = gradient_jumps(loss, grad_norm, norm_factor, distance_points)
    if met is None:
        return None
    text = f"At {met[0]} of {met[1]} loss spikes the gradient norm is over {norm_factor:g} times its level."
    return Finding(
        text, step=jumps[0].step, series=grad_norm.name, numbers={"grad_peak": float(grad_norm.y.max())}
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
