"""The time of the steps."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, FloatArray, Skipped, stats
from traindx.evidence.detectors._number_text import percent, strength, text, times, where
from traindx.evidence.detectors._pace import THROUGHPUT, TIMES, all_slower, settled, shape, speed, thirds
from traindx.testing.sketch import noisy, run


@Detector("Step time creeps up", needs=("|".join(TIMES),), family="pace")
def step_time_creeps(
    case: Case,
    *,
    growth_factor: float = 1.3,
    large_factor: float = 1.6,
    middle_share: float = 0.2,
    p_value: float = 1e-4,
    min_points: int = 30,
) -> Detected:
    """Steps take longer and longer as the run goes on.

    Compares the medians of the three thirds of the run, the first steps left out: each must be slower than
    the one before, with the growth shared between them (a single jump is throughput_drops), the whole growth
    significant and at least {growth_factor} times. From {large_factor} times on it is of medium severity,
    unless a recording shows the forward pass to slow down alike: sequences grow, or the machine is busy with
    something else.

    Known mistakes: in a log, a curriculum of growing sequences or images; a running mean of the step time
    creeps after any slow-down.
    """
    curve = case.curve(*TIMES)
    if curve is None or len(curve) < min_points:
        return Skipped(f"at least {min_points} values of the time per step")
    steps, seconds = settled(curve)
    if seconds.size < min_points:
        return Skipped(f"at least {min_points} values of the time per step")
    course = shape(steps, seconds)
    early, middle, late = thirds(course.median)
    share = (middle - early) / (late - early) if late > early else 0.0
    tenth = max(2, course.median.size // 10)
    begin, end = float(np.median(course.median[:tenth])), float(np.median(course.median[-tenth:]))
    climb = stats.trend(course.step, course.median)
    creeps = (
        middle_share <= share <= 1 - middle_share and end >= growth_factor * begin and late >= 1.1 * early
    )
    if not creeps or not (climb.p < p_value and climb.slope > 0):
        return None
    factor = end / begin
    return Finding(
        text=f"The time per {'epoch' if curve.name.startswith('epoch_s') else 'step'} creeps up "
        f"{times(factor)}: {text(begin)} s at {where(curve, float(steps[0]))}, {text(end)} s at the end.",
        symptom="slow_training",
        severity="medium"
        if factor >= large_factor and not all_slower(case, float(steps[0]), factor)
        else "low",
        step=float(steps[0]),
        series=curve.name,
        strength=strength(factor, growth_factor, 3.0),
        numbers={"creep_factor": round(factor, 1)},
    )


@Detector("Throughput drops", needs=("|".join((*THROUGHPUT, *TIMES)),), family="pace")
def throughput_drops(
    case: Case,
    *,
    speed_left: float = 0.75,
    large_drop_left: float = 0.6,
    min_length_share: float = 0.1,
    drop_in_spreads: float = 3.0,
    max_crowding: float = 2.0,
    min_points: int = 20,
) -> Detected:
    """Training got slower at some moment.

    Looks for the moment that best parts a fast stretch from a slow one: nearly every later value must lie
    below nearly every earlier one, so noise and a speed that wanders do not count. A drop to
    {large_drop_left} of the speed or less that lasts to the end is of medium severity; a smaller one, or one
    that was over before the end, of low severity; so is one that a recording shows in the forward pass
    alike: the work grew, or the machine was busy with something else, as it surely was where {max_crowding}
    processes or more want each core.

    Silent about the first steps (compilation, warm-up) and single slow steps (step_time_outliers).
    Known mistakes: in a log, longer sequences or larger images in a later phase are slower by nature.
    """
    measured = speed(case)
    if measured is None or measured[1].size < min_points:
        return Skipped(f"at least {min_points} values of the throughput or the time per step")
    curve, steps, speeds = measured
    course = shape(steps, speeds)
    drop = _drop(np.log(course.median), max(3, round(min_length_share * course.median.size)), drop_in_spreads)
    if drop is None or drop[0] > speed_left:
        return None
    part, begin, end = drop
    lasting = end == course.median.size
    onset = float(course.step[begin])
    until = "to the end" if lasting else f"until {where(curve, float(course.step[end - 1]))}"
    busy = case.inside.crowding >= max_crowding or case.inside.brief
    elsewhere = busy or all_slower(case, onset, 1 / part)
    heavy = lasting and part <= large_drop_left and not elsewhere
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


def cases() -> Cases:
    yield from step_time_creeps.fires(run({"step_s": noisy(np.linspace(0.2, 0.6, 300), 0.1)}))
    yield from step_time_creeps.fires(run({"step_s": noisy(np.linspace(1e-3, 1.4e-3, 3000), 0.1)}))
    yield from step_time_creeps.silent(
        run({"step_s": noisy([0.2] * 300, 0.3)}),
        run({"step_s": noisy(np.where(np.arange(300) < 200, 0.2, 0.6), 0.05)}),
        run({"step_s": noisy(5.0 + 2.0 * np.cos(np.linspace(0, 4 * np.pi, 600)), 0.1)}),
        run({"step_s": [19.0] + [0.4] * 100}),
    )
    yield from throughput_drops.fires(
        run({"tokens_per_s": noisy(np.where(np.arange(200) < 120, 1000.0, 450.0), 0.05)}),
        run({"step_s": noisy(np.where(np.abs(np.arange(300) - 150) < 40, 0.5, 0.05), 0.1)}),
    )
    yield from throughput_drops.silent(run({"tokens_per_s": noisy([500.0] * 280, 0.2)}))
    wander = 5.0 + 2.0 * np.cos(np.linspace(0, 4 * np.pi, 600))
    yield from throughput_drops.silent(run({"step_s": noisy(wander, 0.1)}))
    evaluations = np.where(np.arange(1000) % 250 == 0, 19.0, 0.4)
    yield from throughput_drops.silent(run({"step_s": evaluations}))
    yield from throughput_drops.silent(run({"step_s": [20.0, 5.0] + [0.4] * 100}))
