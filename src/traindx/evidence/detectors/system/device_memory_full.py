"""The memory of the device is full to the brim.

The highest logged share of the device's memory is {full_share} or more: a larger batch does not fit, and the
next peak may end the run. Gradient accumulation, activation checkpointing and lower precision make room.

Worth knowing (low). Silent with fewer than {min_points} values. Known mistakes: libraries that reserve all
memory at their start, whatever they use (TensorFlow, JAX), show this in every run.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Device memory full", family="memory_level")


def detect(gpu_mem_share: Curve, *, full_share: float = 0.95, min_points: int = 5) -> Detected:
    level = float(np.quantile(gpu_mem_share.y, 0.9))
    if level < full_share:
        return None
    return Finding(
        f"{percent(level)} of the device's memory is in use: no larger batch fits, a peak may end the run.",
        symptom="memory_growth",
        severity="low",
        step=float(gpu_mem_share.x[0]),
        numbers={"memory_share": round(100 * level)},
    )


def fires() -> Runs:
    yield run({"gpu_mem_share": noisy([0.98] * 40, 0.002)})


def silent() -> Runs:
    yield run({"gpu_mem_share": noisy([0.7] * 40, 0.05)})
    yield run({"gpu_mem_share": [*[0.9] * 39, 0.97]})
