"""The device: idle, busy, full."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, FloatArray, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.detectors._settings import whole_batch
from traindx.evidence.sampled import usual
from traindx.testing.sketch import noisy, run


@Detector("Device mostly idle", family="device_use")
def device_idle(
    case: Case, gpu_busy_share: Curve, *, busy_share: float = 0.5, min_points: int = 5
) -> Detected:
    """The device is busy for less than half of the time.

    The median of the logged share of time that the device (GPU) works, the first values left out. Under
    {busy_share} it mostly waits: for data in nearly all trainings, for launches and synchronisation in the
    rest. Low where the log also shows that hardly any time is spent waiting for data.

    Silent with fewer than {min_points} values, and in a log that holds nothing but zeros (nothing was
    measured).
    """
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


@Detector("Device busy", family="device_use")
def device_busy(
    case: Case,
    gpu_busy_share: Curve,
    *,
    busy_share: float = 0.85,
    min_points: int = 5,
    max_batch_size: int = 4,
    max_memory_share: float = 0.25,
    long_seconds: float = 600.0,
) -> Detected:
    """The device is busy nearly all the time.

    The median of the logged share of time that the device works is {busy_share} or more. A sign, and no
    trouble: data arrives in time. A training that is still too slow gains from larger batches, other kernels
    or lower precision, not from more loader workers.

    A batch of {max_batch_size} samples or fewer in a memory that is {max_memory_share} full at most is worth
    knowing (low): larger batches would fit. Medium where the run took {long_seconds} seconds or more.
    Silent with fewer than {min_points} values.
    """
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
    if step_seconds := usual(case, "step_s"):
        return last * step_seconds
    pace = usual(case, "samples_per_s")
    return last * batch / pace if pace else 0.0


@Detector("Device memory full", needs=("gpu_mem_share|gpu_mem_bytes",), family="memory_level")
def device_memory_full(
    case: Case, gpu_mem_share: Curve | None = None, *, full_share: float = 0.95, min_points: int = 5
) -> Detected:
    """The memory of the device is full to the brim.

    The highest logged share of the device's memory is {full_share} or more: a larger batch does not fit, and
    the next peak may end the run. Gradient accumulation, activation checkpointing and lower precision make
    room.

    Worth knowing (low). Silent with fewer than {min_points} values. Known mistakes: libraries that reserve
    all memory at their start, whatever they use (TensorFlow, JAX), show this in every run.
    """
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


def cases() -> Cases:
    yield from device_idle.fires(run({"gpu_busy_share": noisy([0.3] * 40, 0.1)}))
    yield from device_idle.silent(run({"gpu_busy_share": noisy([0.96] * 40, 0.01)}))
    yield from device_idle.silent(run({"gpu_busy_share": [0.0] * 40}))
    yield from device_busy.fires(run({"gpu_busy_share": noisy([0.95] * 40, 0.01)}))
    shares = noisy([0.95] * 40, 0.01)
    yield from device_busy.fires(
        run({"gpu_busy_share": shares, "gpu_mem_share": [0.1] * 40}, settings={"batch_size": 2})
    )
    yield from device_busy.silent(run({"gpu_busy_share": noisy([0.4] * 40, 0.1)}))
    yield from device_busy.silent(run({"gpu_busy_share": noisy([0.7] * 40, 0.05)}))
    yield from device_memory_full.fires(run({"gpu_mem_share": noisy([0.98] * 40, 0.002)}))
    yield from device_memory_full.silent(run({"gpu_mem_share": noisy([0.7] * 40, 0.05)}))
    yield from device_memory_full.silent(run({"gpu_mem_share": [*[0.9] * 39, 0.97]}))
