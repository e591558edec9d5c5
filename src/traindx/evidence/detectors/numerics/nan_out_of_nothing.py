"""The loss became NaN from one step to the next, without any rise before it.

A sign that separates causes: a bad sample, log(0), a division by zero or an fp16 overflow strike at
once; an optimizer that overshoots mostly shows a rise before.

Silent when the loss or the gradient norm rose before, when the values are logged so rarely that a rise could
have gone unseen (fewer than {min_points_before} values before the NaN), and when the very first value is NaN
(see nan_from_start).
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="NaN without a rise", family="nan_onset")


def detect(case: Case, loss: Curve, *, rise_factor: float = 1.5, min_points_before: int = 10) -> Detected:
    if not loss.broken or not loss.finite[0]:
        return Skipped()
    onset = float(loss.series.steps[int(np.argmin(loss.finite))])
    before = loss.y[loss.x < onset]
    if before.size < min_points_before:
        return Skipped(f"at least {min_points_before} finite values before the NaN")
    usual = float(np.median(before[:-3][-20:]))
    peak = float(before[-3:].max())
    if peak > rise_factor * usual and peak - usual > 4 * loss.noise:
        return None
    norm = case.grad_norm
    if norm is not None and (early := norm.y[norm.x < onset]).size >= 6:
        middle = float(np.median(early[:-3]))
        if early[-3:].max() > 5 * middle > 0:
            return None
    text = f"The last loss before the NaN at {where(loss, onset)} is {before[-1]:.4g}; usual is {usual:.4g}."
    return Finding(text, step=onset)


def fires() -> Runs:
    yield run({"loss": [*noisy(decay(50, 2.0, 0.5), 0.05), *[float("nan")] * 20]})


def silent() -> Runs:
    yield run({"loss": [*decay(50, 2.0, 0.5), 0.9, 3.0, 40.0, *[float("nan")] * 20]})
    yield run({"loss": decay(50, 2.0, 0.5)})
    yield run({"loss": [float("nan")] * 20})
