"""The learning rate does not change, apart from a warm-up.

Seen when the last four fifths of the logged rates are all the same: no decay has happened. A sign: right
for some trainings, in the way of others that would gain from a decay at the end.

Silent about a rate of 0, fewer than {min_points} values. Known mistakes: a rate printed with few digits hides
a slow decay; a plateau schedule that has not acted yet.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._number_text import text, where
from traindx.testing.sketch import run

DETECTOR = Detector(title="Learning rate constant", family="lr_schedule")


def detect(lr: Curve, *, last_share: float = 0.8, tolerance: float = 1e-3, min_points: int = 8) -> Detected:
    rest = lr.y[int((1 - last_share) * len(lr)) :]
    value = float(rest[-1])
    if value <= 0 or float(rest.max() - rest.min()) > tolerance * value or lr.y.max() > 1.01 * value:
        return None
    away = np.flatnonzero(np.abs(lr.y - value) > tolerance * value)
    onset = float(lr.x[away[-1] + 1]) if away.size else float(lr.x[0])
    how = f"from {where(lr, onset)} on, after a warm-up" if away.size else f"at all {len(lr)} logged points"
    sentence = f"The learning rate is {text(value)} {how}: it never decays."
    return Finding(sentence, step=onset, numbers={"lr": value})


def fires() -> Runs:
    yield run({"lr": [1e-4] * 50})
    yield run({"lr": [1e-5, 5e-5] + [1e-4] * 50})


def silent() -> Runs:
    yield run({"lr": np.linspace(1e-4, 1e-6, 50)})
    yield run({"lr": [0.0] * 50})
    yield run({"lr": [0.1] * 5 + [0.01] * 50})
    yield run({"lr": [1e-4] * 4})
