"""Steps take longer and longer as the run goes on.

Compares the medians of the three thirds of the run, the first steps left out: each must be slower than the
one before, with the growth shared between them (a single jump is throughput_drops), the whole growth
significant and at least {growth_factor} times. From {large_factor} times on it is of medium severity, unless
a recording shows the forward pass to slow down alike: sequences grow, or the machine is busy with something
else.

Known mistakes: in a log, a curriculum of growing sequences or images; a running mean of the step time
creeps after any slow-down.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import strength, text, times, where
from traindx.evidence.detectors._pace import TIMES, all_slower, settled, shape, thirds
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Step time creeps up", needs=("|".join(TIMES),), family="pace")


def detect(
    case: Case,
    *,
    growth_factor: float = 1.3,
    large_factor: float = 1.6,
    middle_share: float = 0.2,
    p_value: float = 1e-4,
    min_points: int = 30,
) -> Detected:
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


def fires() -> Runs:
    yield run({"step_s": noisy(np.linspace(0.2, 0.6, 300), 0.1)})
    yield run({"step_s": noisy(np.linspace(1e-3, 1.4e-3, 3000), 0.1)})


def silent() -> Runs:
    yield run({"step_s": noisy([0.2] * 300, 0.3)})
    yield run({"step_s": noisy(np.where(np.arange(300) < 200, 0.2, 0.6), 0.05)})
    yield run({"step_s": noisy(5.0 + 2.0 * np.cos(np.linspace(0, 4 * np.pi, 600)), 0.1)})
    yield run({"step_s": [19.0] + [0.4] * 100})
