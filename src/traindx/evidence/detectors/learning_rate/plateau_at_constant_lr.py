"""The loss came down fast, then stands still, and the learning rate never decayed.

A rate that is right for the first phase is too large for the last: the loss then rests on the noise of its
own steps, and a decay brings a further drop. Seen when the rate since the loss stopped is constant (logged,
or configured without a schedule) and {loss_left} of the first loss or more is left.

A sign. Whether the standstill is trouble depends on how good the model is by then: see plateau.
Silent where a score says the model does well, and where the rate is small from the start.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Stands at a constant learning rate", family="lr_schedule", guards=("surrogate",))


def detect(case: Case, loss: Curve, *, loss_left: float = 0.2, min_points: int = 12) -> Detected:
    stop = case.harm.standstill
    if stop is None:
        return Skipped()
    rate = case.harm.constant_lr
    if rate is None:
        return Skipped("the learning rate, logged or configured")
    if rate <= 0 or case.level.good or stop.level < loss_left * abs(loss.head):
        return None
    return Finding(
        f"The learning rate has been {text(rate)} throughout, without a schedule, and the loss has stood at "
        f"{text(stop.level)} since {where(loss, stop.since)}, after {1 - stop.share:.0%} of the run.",
        step=stop.since,
        strength=round(float(np.clip(stop.share / 0.8, 0.3, 1.0)), 3),
        numbers={"lr": rate, "last_value": stop.level},
    )


def fires() -> Runs:
    flat = noisy([*decay(30, 2.3, 1.1), *[1.1] * 120], 0.01)
    yield run({"loss": flat, "lr": [1e-3] * 150})


def silent() -> Runs:
    flat = noisy([*decay(30, 2.3, 1.1), *[1.1] * 120], 0.01)
    yield run({"loss": flat, "lr": np.linspace(1e-3, 1e-5, 150)})
    yield run({"loss": flat, "lr": [1e-3] * 150, "val/accuracy": [0.97] * 150})
    yield run({"loss": noisy(decay(150, 2.3, 0.05, rate=20), 0.02), "lr": [1e-3] * 150})
