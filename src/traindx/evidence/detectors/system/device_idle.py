"""The device is busy for less than half of the time.

The median of the logged share of time that the device (GPU) works, the first values left out. Under
{busy_share} it mostly waits: for data in nearly all trainings, for launches and synchronisation in the rest.
Low where the log also shows that hardly any time is spent waiting for data.

Silent with fewer than {min_points} values, and in a log that holds nothing but zeros (nothing was measured).
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._number_text import percent, strength
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Device mostly idle", family="device_use")


def detect(case: Case, gpu_busy_share: Curve, *, busy_share: float = 0.5, min_points: int = 5) -> Detected:
    shares = gpu_busy_share.y[len(gpu_busy_share) // 10 :]
    busy = float(np.median(shares))
    if not shares.max() > 0 or busy >= busy_share:
        return None
    waits, steps = case.curve("data_wait_s"), case.curve("step_s")
    fed = (
        waits is not None
        and steps is not None
        and len(waits)
        and len(steps)
        and waits.tail < 0.1 * steps.tail
    )
    return Finding(
        f"The device is busy {percent(busy)} of the time; the rest of the time it waits.",
        symptom="slow_training",
        severity="low" if fed else "medium",
        step=float(gpu_busy_share.x[0]),
        strength=strength(1.0 - busy, 1.0 - busy_share, 0.9),
        numbers={"busy_share": round(100 * busy)},
    )


def fires() -> Runs:
    yield run({"gpu_busy_share": noisy([0.3] * 40, 0.1)})


def silent() -> Runs:
    yield run({"gpu_busy_share": noisy([0.96] * 40, 0.01)})
    yield run({"gpu_busy_share": [0.0] * 40})
