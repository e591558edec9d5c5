"""The spikes of the loss come at even distances.

A sign: something comes round in a fixed rhythm, as the same bad batch does in every pass over data that is
not shuffled. Seen when at least {min_spikes} spikes stand at distances that differ by less than
{rhythm_tolerance} of their mean, or at multiples of one distance.

Silent with fewer spikes, and when the loss is logged so rarely that all distances look alike.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._spiking import loss_jumps
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Spikes in an even rhythm", family="spike_rhythm")


def detect(
    loss: Curve, *, rhythm_tolerance: float = 0.06, min_spikes: int = 4, min_points_apart: int = 5
) -> Detected:
    if len(loss) < 30:
        return Skipped("at least 30 values of the training loss")
    jumps = np.array([jump.step for jump in loss_jumps(loss)])
    if jumps.size < min_spikes:
        return Skipped()
    gaps = np.diff(jumps)
    rhythm = float(gaps.min())
    if rhythm < min_points_apart * float(np.median(np.diff(loss.x))):
        return None
    times = np.round(gaps / rhythm)
    rhythm = float((gaps / times).mean())
    off = float(np.abs(gaps / times - rhythm).max()) / rhythm
    if off > rhythm_tolerance or times.max() > 5:
        return None
    text = f"{jumps.size} spikes of the loss are {rhythm:,.4g} {loss.axis}s apart, to within {off:.1%}."
    return Finding(text, step=float(jumps[0]))


def fires() -> Runs:
    loss = noisy(decay(500, 3.0, 1.0), 0.03)
    loss[[97, 194, 291, 388, 485]] *= 20
    yield run({"loss": loss})


def silent() -> Runs:
    loss = noisy(decay(500, 3.0, 1.0), 0.03)
    yield run({"loss": loss})
    loss = loss.copy()
    loss[[117, 150, 298, 380, 432]] *= 6
    yield run({"loss": loss})
