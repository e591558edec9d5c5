"""A loss that has no floor runs away below zero.

Cross-entropy, squared error and their kin cannot be negative. Seen when the loss is negative and its
size grew by orders of magnitude and still grows: labels outside the range the loss expects, a sign
turned round, or an objective that can be made as low as one likes.

Silent for losses that are negative in good order (SI-SDR, likelihoods of densities, ELBO, RL): they
settle, or change by a few units.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Loss runs below zero without end", family="rise", guards=("surrogate",))


def detect(
    loss: Curve, *, min_size: float = 1000.0, growth_factor: float = 10.0, min_points: int = 5
) -> Detected:
    last = loss.tail
    middle = float(np.median(loss.y[len(loss) // 3 : len(loss) // 2 + 1]))
    if last > -min_size or last > growth_factor * min(middle, -1.0) / 2 or loss.y.argmin() < 0.8 * len(loss):
        return None
    text = f"The loss runs away below zero: {loss.head:.4g}, half-way {middle:.4g}, at the end {last:.4g}."
    return Finding(text, "divergence", "high", float(loss.x[0]), float(loss.x[-1]), loss.name)


def fires() -> Runs:
    yield run({"loss": [0.5, -60.0, -6e3, -1e5, -7e5, -3e6, -8e6, -3e7, -8e7, -1.4e8]})


def silent() -> Runs:
    yield run({"loss": decay(50, 2.0, -18.0)})
    yield run({"loss": noisy(decay(50, 0.1, -1.2), 0.05)})
