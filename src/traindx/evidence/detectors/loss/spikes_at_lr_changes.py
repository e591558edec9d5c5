"""The spikes of the loss stand where the learning rate changes.

A sign: restarts and sudden raises of the rate shake the loss. Seen when at least half of the spikes
follow a rise of the rate by {lr_factor} or more within {distance_share} of the run.

Silent without spikes and without such changes.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._spiking import expected_together, loss_jumps, together
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Spikes at changes of the rate", family="spike_place")


def detect(loss: Curve, lr: Curve, *, lr_factor: float = 1.5, distance_share: float = 0.01) -> Detected:
    if len(loss) < 30 or len(lr) < 10:
        return Skipped("at least 30 values of the loss and 10 of the learning rate")
    jumps = [jump.step for jump in loss_jumps(loss)]
    if not jumps:
        return Skipped()
    raised = lr.x[1:][lr.y[1:] > lr_factor * np.maximum(lr.y[:-1], 1e-12 * lr.y.max())]
    span = float(loss.x[-1] - loss.x[0])
    near = max(distance_share * span, 2 * float(np.median(np.diff(loss.x))))
    met = together(jumps, raised, near)
    if met < max(1, 0.5 * len(jumps)) or met < 3 * expected_together(len(jumps), raised.size, near, span):
        return None
    text = (
        f"{met} of {len(jumps)} spikes of the loss follow a rise of the rate to {lr_factor:g} times or more."
    )
    return Finding(text, step=jumps[0])


def fires() -> Runs:
    loss, rate = noisy(decay(300, 3.0, 1.0), 0.03), np.tile(np.linspace(0.1, 0.001, 100), 3)
    loss[[101, 201]] *= 6
    yield run({"loss": loss, "lr": rate})


def silent() -> Runs:
    loss, rate = noisy(decay(300, 3.0, 1.0), 0.03), np.tile(np.linspace(0.1, 0.001, 100), 3)
    yield run({"loss": loss, "lr": rate})
    loss = loss.copy()
    loss[[150, 250]] *= 6
    yield run({"loss": loss, "lr": rate})
