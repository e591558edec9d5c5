"""The loss was falling, then stopped, well before the end.

Finds the last part of the run, at least {flat_share} of it, over which the loss fell by no more than
{max_gain} of its level or by nothing that can be told from noise. Reports since when (where it came to within
a twentieth of its fall of that level), at which level, how much of the start is left, where its earlier
course pointed, and whether the validation loss stopped too.

From a curve alone a plateau cannot be told from convergence. More than {loss_left_large} of the start left is
worth knowing (low). It is trouble (medium) where the log shows what holds it: a gradient next to nothing, a
learning rate far below the usual or gone, a rate that never decays while scores stay mediocre (see
plateau_without_gradient, plateau_at_small_lr, plateau_at_constant_lr).

Silent when the loss ended below {loss_left_small} of its start, under {min_points} values, and for
reinforcement learning and GANs.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, stats
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, noisy, power, run

DETECTOR = Detector(title="Loss stopped falling", family="plateau", guards=("surrogate",))


def detect(
    case: Case,
    loss: Curve,
    *,
    flat_share: float = 0.4,
    max_gain: float = 0.005,
    loss_left_small: float = 0.1,
    loss_left_large: float = 0.5,
    min_points: int = 12,
) -> Detected:
    fall = loss.head - loss.tail
    left = loss.tail / loss.head if loss.head > 0 else 1.0
    stop = loss.course.standstill(max_gain=max_gain, min_share=flat_share)
    if stop is None or left < loss_left_small:
        return None
    if not loss.course.starts_late and fall < max(0.05 * abs(loss.head), 3 * loss.noise):
        return None
    val = case.val_loss
    both = ""
    if val is not None and len(val) >= 6:
        stopped = val.course.standstill(max_gain=max_gain, min_share=flat_share) is not None
        both = "; the validation loss stopped too" if stopped else "; the validation loss moves on"
    text = (
        f"The loss stopped falling at {where(loss, stop.since)}: {stop.level:.4g} for the last "
        f"{stop.share:.0%} of the run, {left:.0%} of its start is left{both}"
        f"{_reachable(loss, stop.since, stop.level)}."
    )
    numbers = {"last_value": stop.level, "best_value": loss.best, "left": left}
    stuck = case.harm.stuck
    trouble = stuck or (left > loss_left_large and not case.level.good)
    return Finding(
        text,
        "plateau" if trouble else None,
        "medium" if stuck else "low",
        stop.since,
        float(loss.x[-1]),
        loss.name,
        0.8,
        numbers,
    )


def _reachable(loss: Curve, since: float, level: float) -> str:
    """How far the course before the standstill would have led, where that can be told."""
    before = loss.x <= since
    if int(before.sum()) < 12:
        return ""
    course = stats.decay(loss.x[before], loss.y[before])
    if course is None or not course.high < level or course.high - course.low > 0.5 * abs(level):
        return ""
    return (
        f"; its course until then pointed to {course.asymptote:.4g} ({course.low:.4g} to {course.high:.4g})"
    )


def fires() -> Runs:
    yield run({"loss": noisy([*np.linspace(2.3, 1.2, 40), *[1.2] * 160], 0.01)})


def silent() -> Runs:
    yield run({"loss": noisy(power(400, 10.9, 2.5), 0.02)})
    yield run({"loss": noisy(decay(200, 2.0, 0.01, rate=20), 0.05)})
    yield run({"loss": noisy(np.linspace(2.0, 1.0, 100), 0.01)})
