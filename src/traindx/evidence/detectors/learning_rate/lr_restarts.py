"""The learning rate rises again after it had decayed.

A restart is a rise of at least {rise_factor} times after a fall of at least as much. Warm restarts and cyclic
schedules do this on purpose, a scheduler that is rebuilt on resume by mistake. A sign; the loss usually
rises for a while at each restart.

Silent about the first warm-up, and about rates that jump at nearly every point (several groups in one
curve).
"""

from itertools import pairwise
from math import log

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, stats
from traindx.evidence.detectors._number_text import text, where
from traindx.testing.sketch import run

DETECTOR = Detector(title="Learning rate restarts", family="lr_schedule")


def detect(
    case: Case, lr: Curve, *, rise_factor: float = 2.0, min_points: int = 8, max_restarts_share: float = 0.1
) -> Detected:
    peak = float(lr.y.max())
    if peak <= 0:
        return None
    thinned = stats.thin(lr.x, lr.y, 2000)
    steps, logs = lr.x[thinned], np.log(np.maximum(lr.y[thinned], 1e-6 * peak))
    pieces = stats.monotone_pieces(logs, threshold=log(rise_factor) * 0.999)
    rises = [b for a, b in pairwise(pieces) if a.change <= -log(rise_factor) * 0.999 and b.change > 0]
    if not rises or len(rises) > max(1.0, max_restarts_share * len(lr)):
        return None
    at = tuple(float(steps[rise.start]) for rise in rises)
    first = rises[0]
    resumed = [step for step in case.events("resume") if at[0] <= step <= float(steps[first.end])]
    sentence = (
        f"The learning rate rises again {len(rises)} time{'s' if len(rises) > 1 else ''} after a decay, "
        f"first from {text(float(np.exp(logs[first.start])))} at {where(lr, at[0])} to "
        f"{text(float(np.exp(logs[first.end])))}{', where the run resumed' if resumed else ''}."
    )
    return Finding(sentence, step=at[0], numbers={"restarts": len(rises), "onset": at[0]}, marks=at[:20])


def fires() -> Runs:
    cycle = 0.5e-3 * (1.02 + np.cos(np.linspace(0, np.pi, 100)))
    yield run({"lr": np.tile(cycle, 3)})


def silent() -> Runs:
    yield run({"lr": np.concatenate([np.linspace(0, 1e-3, 20), np.linspace(1e-3, 0, 200)])})
    yield run({"lr": [1e-3] * 100})
    yield run({"lr": np.tile([1e-3, 1e-5], 50)})
