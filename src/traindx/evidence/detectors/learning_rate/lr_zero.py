"""The learning rate is zero for all, or nearly all, of the run.

Counts the logged rates below {zero_below}. Trouble when they are nine in ten or more: nothing is learned.

Silent about the first value of a warm-up and the last of a schedule, when another parameter group has a
rate (a part was frozen on purpose), and when the loss falls all the same: then the log rounds the rate
to 0.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._number_text import percent, text
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Learning rate zero", family="lr_zero")


def detect(
    case: Case, lr: Curve, *, zero_below: float = 1e-12, zero_share: float = 0.9, min_points: int = 5
) -> Detected:
    none = np.abs(lr.y) < zero_below
    part = float(none.mean())
    if part < zero_share or any((group.y > zero_below).mean() > 1 - zero_share for group in case.lr_groups):
        return None
    if case.harm.learned():
        return None
    sentence = f"The learning rate is 0 at {percent(part)} of its {len(lr)} logged values" + (
        f" (the configuration says {text(case.number('lr') or 0.0)})." if case.number("lr") else "."
    )
    numbers = {"lr": 0.0, "onset": float(lr.x[none][0])}
    return Finding(sentence, "not_learning", "high", float(lr.x[none][0]), numbers=numbers)


def fires() -> Runs:
    yield run({"lr": [0.0] * 60, "loss": noisy([1.5] * 60, 0.1)})
    yield run({"lr": [1e-4] + [0.0] * 40})


def silent() -> Runs:
    yield run({"lr": np.concatenate([[0.0], np.linspace(1e-4, 0.0, 60)])})
    yield run({"lr": [0.0] * 60, "loss": noisy(decay(60, 3.0, 1.0), 0.02)})
    yield run({"lr": [0.0] * 60, "lr/head": [1e-3] * 60})
    yield run({"lr": [0.0, 2e-5]})
