"""The memory of the device is full to the brim.

The highest logged share of the device's memory is {full_share} or more: a larger batch does not fit, and the
next peak may end the run. Gradient accumulation, activation checkpointing and lower precision make room.

Worth knowing (low). Silent with fewer than {min_points} values. Known mistakes: libraries that reserve all
memory at their start, whatever they use (TensorFlow, JAX), show this in every run.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, FloatArray, Runs, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Device memory full", needs=("gpu_mem_share|gpu_mem_bytes",), family="memory_level")


def detect(
    case: Case, gpu_mem_share: Curve | None = None, *, full_share: float = 0.95, min_points: int = 5
) -> Detected:
    shares = gpu_mem_share.y if gpu_mem_share is not None else _used_of_total(case)
    if shares.size < min_points:
        return Skipped("the share of the device's memory in use, or what is used and what there is")
    level = float(np.quantile(shares, 0.9))
    if level < full_share:
        return None
    return Finding(
        f"{percent(level)} of the device's memory is in use: no larger batch fits, a peak may end the run.",
        symptom="memory_growth",
        severity="low",
        numbers={"memory_share": round(100 * level)},
    )


def _used_of_total(case: Case) -> FloatArray:
    """The share in use, where a log has the memory in use and, as a column of its own, all there is."""
    used = case.curve("gpu_mem_bytes")
    names = [name for name in case.names if name.startswith("gpu_mem_bytes/")]
    totals = [series for name in names if "total" in (series := case.run.series[name]).source.lower()]
    if used is None or not totals or not float(totals[0].values[0]) > 0:
        return np.empty(0)
    return used.y / float(totals[0].values[0])


def fires() -> Runs:
    yield run({"gpu_mem_share": noisy([0.98] * 40, 0.002)})


def silent() -> Runs:
    yield run({"gpu_mem_share": noisy([0.7] * 40, 0.05)})
    yield run({"gpu_mem_share": [*[0.9] * 39, 0.97]})
