"""Training got slower at some moment.

Looks for the moment that best parts a fast stretch from a slow one: nearly every later value must lie below
nearly every earlier one, so noise and a speed that wanders do not count. A drop to {large_drop_left} of the
speed or less that lasts to the end is of medium severity; a smaller one, or one that was over before the end,
of low severity; so is one that a recording shows in the forward pass alike: the work grew, or the machine was
busy with something else.

Silent about the first steps (compilation, warm-up) and single slow steps (step_time_outliers).
Known mistakes: in a log, longer sequences or larger images in a later phase are slower by nature.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, FloatArray, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength, times, where
from traindx.evidence.detectors._pace import THROUGHPUT, TIMES, all_slower, shape, speed
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Throughput drops", needs=("|".join((*THROUGHPUT, *TIMES)),), family="pace")


def detect(
    case: Case,
    *,
    speed_left: float = 0.75,
    large_drop_left: float = 0.6,
    min_length_share: float = 0.1,
    drop_in_spreads: float = 3.0,
    min_points: int = 20,
) -> Detected:
    found = speed(case)
    if found is None or found[1].size < min_points:
        return Skipped(f"at least {min_points} values of the throughput or the time per step")
    curve, steps, speeds = found
    course = shape(steps, speeds)
    drop = _drop(np.log(course.median), max(3, round(min_length_share * course.median.size)), drop_in_spreads)
    if drop is None or drop[0] > speed_left:
        return None
    part, begin, end = drop
    lasting = end == course.median.size
    onset = float(course.step[begin])
    until = "to the end" if lasting else f"until {where(curve, float(course.step[end - 1]))}"
    heavy = lasting and part <= large_drop_left and not all_slower(case, onset, 1 / part)
    return Finding(
        text=f"Training runs at {percent(part)} of its earlier speed by {curve.name} ({times(1 / part)} "
        f"slower) from {where(curve, onset)} {until}.",
        symptom="slow_training",
        severity="medium" if heavy else "low",
        step=onset,
        end=None if lasting else float(course.step[end - 1]),
        series=curve.name,
        strength=strength(1 / part, 1 / speed_left, 3.0),
        numbers={"creep_factor": round(1 / part, 1), "onset": onset},
        marks=(onset,),
    )


def _drop(logs: FloatArray, shortest: int, spreads: float) -> tuple[float, int, int] | None:
    """The longest slow stretch: its share of the speed before, its first stretch and the one after it."""
    low, high = np.quantile(logs, [0.1, 0.9])
    slow = np.concatenate([[False], logs < (low + high) / 2, [False]])
    edges = np.flatnonzero(np.diff(slow.astype(np.int8)))
    begin, end = max(
        zip(edges[::2], edges[1::2], strict=True), key=lambda run: run[1] - run[0], default=(0, 0)
    )
    inside, before, after = logs[begin:end], logs[:begin], logs[end:]
    if inside.size < shortest or before.size < shortest:
        return None
    gap = float(np.median(before) - np.median(inside))
    spread = 1.4826 * float(np.median(np.abs(before - np.median(before))))
    apart = np.quantile(inside, 0.9) < np.quantile(before, 0.1) and gap >= spreads * spread
    if not apart or (after.size and np.quantile(inside, 0.9) >= np.quantile(after, 0.1)):
        return None
    return float(np.exp(-gap)), begin, end


def fires() -> Runs:
    yield run({"tokens_per_s": noisy(np.where(np.arange(200) < 120, 1000.0, 450.0), 0.05)})
    yield run({"step_s": noisy(np.where(np.abs(np.arange(300) - 150) < 40, 0.5, 0.05), 0.1)})


def silent() -> Runs:
    yield run({"tokens_per_s": noisy([500.0] * 280, 0.2)})
    wander = 5.0 + 2.0 * np.cos(np.linspace(0, 4 * np.pi, 600))
    yield run({"step_s": noisy(wander, 0.1)})
    evaluations = np.where(np.arange(1000) % 250 == 0, 19.0, 0.4)
    yield run({"step_s": evaluations})
    yield run({"step_s": [20.0, 5.0] + [0.4] * 100})
