"""The loss or the gradients grew before the NaN.

A sign that separates causes: an optimizer that overshoots, or gradients that explode, let the loss or
the gradient norm grow for some steps before the overflow. Compares the last finite points before the
first NaN with the ones before them.

Silent when the values before the NaN are like all others, and when there are too few of them.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Rise before the NaN", family="nan_onset")


def detect(case: Case, loss: Curve, *, rise_factor: float = 1.5, last_points: int = 3) -> Detected:
    if not loss.broken:
        return Skipped()
    onset = float(loss.series.steps[int(np.argmin(loss.finite))])
    seen = []
    for what, curve in (("loss", loss), ("gradient norm", case.grad_norm)):
        grown = _growth(curve, onset, last_points) if curve is not None else None
        if grown is not None and grown[0] >= rise_factor:
            seen.append(f"the {what} rose {grown[0]:.3g} times, from {grown[1]:.4g} to {grown[2]:.4g}")
    if seen:
        text = f"Before the first NaN at {where(loss, onset)} {' and '.join(seen)}."
        return Finding(text, step=onset)
    if loss.before(onset).size < last_points + 3:
        return Skipped(f"at least {last_points + 3} finite values before the NaN")
    return None


def _growth(curve: Curve, onset: float, last: int) -> tuple[float, float, float] | None:
    """How many times the highest of the last values exceeds the lowest level held before."""
    before = curve.y[curve.x < onset]
    if before.size < 2:
        return None
    count = min(last, before.size - 1)
    peak, usual = float(before[-count:].max()), float(np.median(before[:-count][-20:]))
    noise = curve.noise
    if not usual > 0 or peak - usual < 4 * noise:
        return None
    return peak / usual, usual, peak


def fires() -> Runs:
    yield run({"loss": [*decay(50, 2.0, 0.5), 0.9, 3.0, 40.0, *[float("nan")] * 20]})


def silent() -> Runs:
    yield run({"loss": [*noisy(decay(50, 2.0, 0.5), 0.05), *[float("nan")] * 20]})
    yield run({"loss": decay(50, 2.0, 0.5)})
