"""The run ends while the learning rate is still warming up.

Seen when the logged rate never falls, was rising to the very end, and grew by half or more; when the
configuration names the peak it must not have been reached.

Silent about rates that have settled, and about a few points.
Known mistakes: a learning-rate range test rises to its end on purpose.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._number_text import percent, text, where
from traindx.testing.sketch import run

DETECTOR = Detector(title="Still warming up at the end", family="warmup")


def detect(
    case: Case, lr: Curve, *, growth_factor: float = 1.5, reached_share: float = 0.98, min_points: int = 5
) -> Detected:
    last = float(lr.y[-1])
    late = lr.y[-max(3, len(lr) // 10) :]
    never_falls = bool((np.diff(lr.y) >= -1e-9 * abs(last)).all())
    goal = case.number("lr")
    if not never_falls or last <= 0 or lr.y[0] * growth_factor > last or not bool((np.diff(late) > 0).all()):
        return None
    if goal is not None and last >= reached_share * goal:
        return None
    share = f", {percent(last / goal)} of the configured {text(goal)}" if goal else ""
    sentence = (
        f"The learning rate rose from {text(float(lr.y[0]))} to {text(last)}{share} and still rose "
        f"when the run ended at {where(lr, float(lr.x[-1]))}."
    )
    numbers = {"lr_first": float(lr.y[0]), "lr_last": last}
    return Finding(sentence, step=float(lr.x[0]), end=float(lr.x[-1]), numbers=numbers)


def fires() -> Runs:
    yield run({"lr": np.linspace(0, 0.04, 22)}, settings={"lr": 0.6})
    yield run({"lr": np.linspace(1e-6, 1e-4, 50)})


def silent() -> Runs:
    yield run({"lr": np.concatenate([np.linspace(0, 1e-3, 20), np.full(80, 1e-3)])})
    yield run({"lr": np.concatenate([np.linspace(0, 1e-3, 20), np.linspace(1e-3, 0, 80)])})
    yield run({"lr": [1e-4] * 50})
    yield run({"lr": np.linspace(1e-6, 1e-4, 50)}, settings={"lr": 1e-4})
