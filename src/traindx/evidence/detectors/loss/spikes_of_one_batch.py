"""The loss leaps for a single step and is back at the next: the batch was different, not the model.

Seen when the loss rises {min_ratio} times or more above its level and the next value is back, every time it
does. A step that such a gradient had really driven would leave the loss above its level; so the step was
clipped or tiny, and the batch itself holds outliers.

Silent when a leap lasts, and where not every step is logged, which would hide how long it lasted.
Known mistakes: a single very rare and hard sample.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import count, times, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Single odd batches", family="odd_batch", guards=("surrogate",))


def detect(
    loss: Curve, *, min_ratio: float = 100.0, back_ratio: float = 2.0, min_points: int = 30
) -> Detected:
    if loss.axis != "step" or float(np.median(np.diff(loss.x))) > 1:
        return Skipped("the training loss of every step")
    leaps = [spike for spike in loss.spikes if spike.ratio >= min_ratio and spike.peak + 1 < len(loss)]
    if not leaps:
        return Skipped()
    levels = [float(loss.y[leap.peak]) - float(leap.height) for leap in leaps]
    if any(loss.y[leap.peak + 1] > back_ratio * level for leap, level in zip(leaps, levels, strict=True)):
        return None
    top = max(leaps, key=lambda leap: leap.ratio)
    step = float(loss.x[top.peak])
    often = "once" if len(leaps) == 1 else f"{count(len(leaps))} times"
    return Finding(
        f"The loss leaps {often} for one step alone, at {where(loss, step)} to {times(top.ratio)} its level, "
        "and is back at the next: the batch is odd, the weights were hardly touched.",
        step=step,
        numbers={"spike_step": step, "spike_ratio": float(top.ratio)},
        marks=tuple(float(loss.x[leap.peak]) for leap in leaps),
    )


def fires() -> Runs:
    curve = noisy(decay(200, 10.0, 2.0), 0.1)
    curve[[37, 121, 180]] = [1e7, 2e7, 3e7]
    yield run({"loss": curve})


def silent() -> Runs:
    curve = noisy(decay(200, 10.0, 2.0), 0.1)
    yield run({"loss": curve})
    curve = curve.copy()
    curve[100:104] = [1e6, 1e5, 1e4, 1e3]
    yield run({"loss": curve})
