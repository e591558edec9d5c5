"""The device is busy nearly all the time.

The median of the logged share of time that the device works is {busy_share} or more. A sign, and no trouble:
data arrives in time. A training that is still too slow gains from larger batches, other kernels or lower
precision, not from more loader workers.

A batch of {max_batch_size} samples or fewer in a memory that is {max_memory_share} full at most is worth
knowing (low): larger batches would fit. Medium where the run took {long_seconds} seconds or more.
Silent with fewer than {min_points} values.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.detectors._settings import whole_batch
from traindx.evidence.sampled import usual
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Device busy", family="device_use")


def detect(
    case: Case,
    gpu_busy_share: Curve,
    *,
    busy_share: float = 0.85,
    min_points: int = 5,
    max_batch_size: int = 4,
    max_memory_share: float = 0.25,
    long_seconds: float = 600.0,
) -> Detected:
    busy = float(np.median(gpu_busy_share.y))
    if busy < busy_share:
        return None
    numbers = {"busy_share": round(100 * busy)}
    sentence = f"The device is busy {percent(busy)} of the time: data arrives in time."
    memory, batch = case.curve("gpu_mem_share"), whole_batch(case)
    if memory is None or batch is None or not len(memory) or batch[0] > max_batch_size:
        return Finding(sentence, numbers=numbers)
    filled = float(np.quantile(memory.y, 0.9))
    if filled > max_memory_share:
        return Finding(sentence, numbers=numbers)
    return Finding(
        f"{sentence} The batch size is {text(batch[0])}, {percent(filled)} of the memory is in use: a larger "
        "batch fits and does more in each step.",
        "slow_training",
        "medium" if _seconds(case, batch[0]) >= long_seconds else "low",
        numbers=numbers | {"batch": batch[0], "memory_share": round(100 * filled)},
    )


def _seconds(case: Case, batch: float) -> float:
    """How long the run took, by the time of a step or the samples in a second; 0 where neither was logged."""
    last = case.planned_steps or (float(case.loss.x[-1]) if case.loss is not None and len(case.loss) else 0.0)
    if each := usual(case, "step_s"):
        return last * each
    pace = usual(case, "samples_per_s")
    return last * batch / pace if pace else 0.0


def fires() -> Runs:
    yield run({"gpu_busy_share": noisy([0.95] * 40, 0.01)})
    shares = noisy([0.95] * 40, 0.01)
    yield run({"gpu_busy_share": shares, "gpu_mem_share": [0.1] * 40}, settings={"batch_size": 2})


def silent() -> Runs:
    yield run({"gpu_busy_share": noisy([0.4] * 40, 0.1)})
    yield run({"gpu_busy_share": noisy([0.7] * 40, 0.05)})
