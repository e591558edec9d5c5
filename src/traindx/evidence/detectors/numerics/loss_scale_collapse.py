"""The loss scale of fp16 training collapses.

A dynamic scaler halves the scale whenever a gradient overflows. A few halvings at the start are normal: it
begins high and finds its level. Seen when the scale ends at {low_scale} or below after having been
{high_scale} or more, or ends {halvings} halvings below the level it had settled at: every step overflows.

Silent about static scales, values that are no powers of two (another `scale` was logged), few points.
"""

from math import log2

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.testing.sketch import run

DETECTOR = Detector(title="Loss scale collapses", family="overflow")


def detect(
    loss_scale: Curve,
    *,
    halvings: int = 10,
    low_scale: float = 1.0,
    high_scale: float = 256.0,
    min_points: int = 5,
) -> Detected:
    values = loss_scale.y
    if values.min() < 0 or not _powers_of_two(values):
        return Skipped("a loss scale in powers of two")
    last = float(values[-1])
    settled = float(np.median(values[len(values) // 10 : max(len(values) // 2, len(values) // 10 + 1)]))
    peak = float(values.max())
    sunk = last <= low_scale and peak >= high_scale
    fell = settled / max(last, 1e-30) >= 2.0**halvings
    if not sunk and not fell:
        return None
    start = peak if sunk else settled
    onset = float(loss_scale.x[np.flatnonzero(values >= min(start, settled) / 2)[-1]])
    count = round(log2(start / max(last, 1e-30)))
    sentence = (
        f"The loss scale falls from {text(start)} to {text(last)} ({count} halvings) after "
        f"{where(loss_scale, onset)}: nearly every step overflows."
    )
    numbers = {"loss_scale": last, "onset": onset, "halvings": count}
    return Finding(sentence, "nonfinite", "high", onset, numbers=numbers, marks=(onset,))


def _powers_of_two(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bool:
    mantissa, _ = np.frexp(values[values > 0])
    return bool(mantissa.size) and float((mantissa == 0.5).mean()) >= 0.9


def fires() -> Runs:
    yield run({"loss_scale": [65536.0] * 20 + [65536.0 / 2**n for n in range(1, 18)]})
    yield run({"loss_scale": [2.0**20] * 30 + [2.0 ** (20 - n) for n in range(14)]})


def silent() -> Runs:
    yield run({"loss_scale": [65536.0, 32768.0, 16384.0, 8192.0] + [8192.0] * 40})
    yield run({"loss_scale": [1.0] * 40})
    yield run({"loss_scale": [2.0 ** (32 - n) for n in range(16)] + [65536.0] * 200})
    yield run({"loss_scale": np.linspace(300.0, 0.5, 40)})
