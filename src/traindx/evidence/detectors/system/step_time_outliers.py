"""Single steps take many times longer than the usual step.

An outlier takes {slow_factor} times the median step. Seen when outliers, the first steps left out, take
{lost_share} or more of the whole time. When they come at regular intervals they are evaluations or
checkpoints: a sign. Irregular ones are slow training; of medium severity when they take {large_share} of it,
in a recording {min_total_seconds} seconds at least, and on a machine on which less than {max_crowding}
processes want each core: other programs interrupt the steps.

Silent when more than a tenth of the steps is slow: that is a slow stretch, not outliers.
Known mistakes: a log that writes only some steps shows only some of the outliers.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, FloatArray, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text, times
from traindx.evidence.detectors._pace import settled
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Slow single steps", family="slow_steps")


def detect(
    case: Case,
    step_s: Curve,
    *,
    slow_factor: float = 4.0,
    lost_share: float = 0.1,
    large_share: float = 0.3,
    max_slow_share: float = 0.1,
    min_slow_steps: int = 5,
    min_total_seconds: float = 10.0,
    max_crowding: float = 2.0,
    min_points: int = 50,
) -> Detected:
    steps, seconds = settled(step_s)
    if seconds.size < min_points:
        return Skipped(f"at least {min_points} values of the time per step")
    usual = float(np.median(seconds))
    slow = seconds > slow_factor * usual
    count = int(slow.sum())
    lost = float((seconds[slow] - usual).sum() / seconds.sum())
    if count < 2 or slow.mean() > max_slow_share or lost < lost_share:
        return None
    regular = _regular(steps[slow])
    trouble = not regular and count >= min_slow_steps
    costs = lost * float(seconds.sum()) >= min_total_seconds or not case.inside.recorded
    crowded = case.inside.crowding >= max_crowding
    kind = f"every {text(regular)} steps" if regular else "at irregular intervals"
    typical = float(np.median(seconds[slow]))
    return Finding(
        text=f"{count} steps take {text(typical)} s instead of {text(usual)} s ({times(typical / usual)}), "
        f"{kind}: {percent(lost)} of the logged time.",
        symptom="slow_training" if trouble else None,
        severity="medium" if trouble and costs and lost >= large_share and not crowded else "low",
        step=float(steps[slow][0]),
        strength=strength(lost, lost_share, 0.5) if trouble else 0.4,
        numbers={"slow_factor": round(typical / usual, 1)},
        marks=tuple(float(step) for step in steps[slow][:20]),
    )


def _regular(steps: FloatArray) -> float:
    """The interval at which most of the steps come, or a whole multiple of it; 0 when there is none."""
    gaps = np.diff(steps)
    gaps = gaps[gaps > 0]
    if gaps.size < 2:
        return 0.0
    sizes, counts = np.unique(gaps, return_counts=True)
    for size in sizes[np.argsort(-counts)][:5]:
        if counts[sizes == size][0] >= 2 and float((gaps % size == 0).mean()) >= 0.7 and size > 1:
            return float(size)
    # Evaluations of two kinds, or once an epoch: positions fall on the grid of a common interval.
    common = float(np.median(gaps))
    return common if common > 1 and float((np.abs(gaps / common - 1) < 0.1).mean()) >= 0.7 else 0.0


def fires() -> Runs:
    yield run({"step_s": noisy(np.where(np.arange(2000) % 250 == 0, 19.0, 0.4), 0.05)})
    stalls = noisy([0.4] * 1000, 0.05)
    stalls[np.random.default_rng(3).choice(1000, 30, replace=False)] = 20.0
    yield run({"step_s": stalls})


def silent() -> Runs:
    yield run({"step_s": noisy([0.4] * 300, 0.3)})
    yield run({"step_s": [20.0, 3.0] + [0.4] * 200})
    yield run({"step_s": noisy(np.where(np.abs(np.arange(300) - 150) < 40, 0.5, 0.05), 0.1)})
