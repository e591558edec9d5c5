"""The device is busy nearly all the time.

The median of the logged share of time that the device works is {busy_share} or more. A sign, and no trouble:
data arrives in time. A training that is still too slow gains from larger batches, other kernels or lower
precision, not from more loader workers.

Silent with fewer than {min_points} values.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Device busy", family="device_use")


def detect(gpu_busy_share: Curve, *, busy_share: float = 0.85, min_points: int = 5) -> Detected:
    busy = float(np.median(gpu_busy_share.y))
    if busy < busy_share:
        return None
    return Finding(
        f"The device is busy {percent(busy)} of the time: data arrives in time.",
        numbers={"busy_share": round(100 * busy)},
    )


def fires() -> Runs:
    yield run({"gpu_busy_share": noisy([0.95] * 40, 0.01)})


def silent() -> Runs:
    yield run({"gpu_busy_share": noisy([0.4] * 40, 0.1)})
    yield run({"gpu_busy_share": noisy([0.7] * 40, 0.05)})
