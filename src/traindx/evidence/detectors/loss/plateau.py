"""The loss was falling, then stopped, well before the end.

Finds the longest last stretch, at least {flat_share} of the run, over which the loss fell by no more than
{max_gain} of its level or by nothing that can be told from noise. Tells since when, at which level, how much
of the start is left, where its earlier course pointed, and whether the validation loss stopped too.

From a curve alone a plateau cannot be told from convergence. So this is a sign; when more than
{loss_left_large} of the start is left it is worth knowing (low), never an alarm. Alarms need other evidence:
a learning rate that decayed too early, a loss at chance level.

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
    since = _flat_since(loss, max_gain, flat_share)
    if since is None or left < loss_left_small:
        return None
    late = loss.course.starts_late
    if not late and fall < max(0.05 * abs(loss.head), 3 * loss.noise):
        return None
    level = float(np.median(loss.y[loss.x >= since]))
    span = float(loss.x[-1] - loss.x[0]) or 1.0
    val = case.val_loss
    both = ""
    if val is not None and len(val) >= 6:
        stopped = _flat_since(val, max_gain, flat_share) is not None
        both = "; the validation loss stopped too" if stopped else "; the validation loss moves on"
    text = (
        f"The loss stopped falling at {where(loss, since)}: {level:.4g} for the last "
        f"{(loss.x[-1] - since) / span:.0%} of the run, {left:.0%} of its start is left{both}"
        f"{_reachable(loss, since, level)}."
    )
    numbers = {"last_value": level, "best_value": loss.best, "left": left}
    symptom = "plateau" if left > loss_left_large and not case.level.good else None
    return Finding(text, symptom, "low", since, float(loss.x[-1]), loss.name, 0.8, numbers)


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


def _flat_since(curve: Curve, gain: float, share: float) -> float | None:
    """The earliest step from which the rest is flat, if that rest is long enough."""
    steps, levels = curve.coarse.step, curve.coarse.median
    least = gain * abs(curve.tail)
    noise = curve.noise / np.sqrt(max(1.0, len(curve) / levels.size))
    for cut in (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6):
        if 1 - cut < share:
            return None
        at = int(np.searchsorted(steps, steps[0] + cut * (steps[-1] - steps[0])))
        rest_steps, rest = steps[at:], levels[at:]
        if rest.size < 8:
            return None
        trend = stats.trend(rest_steps, rest)
        third = max(2, rest.size // 3)
        drop = float(np.median(rest[:third]) - np.median(rest[-third:]))
        still = trend.p > 0.01 or -trend.change < least
        if still and drop < max(least, 2 * noise / np.sqrt(third)) and drop > -max(4 * least, 3 * noise):
            return float(rest_steps[0])
    return None


def fires() -> Runs:
    yield run({"loss": noisy([*np.linspace(2.3, 1.2, 40), *[1.2] * 160], 0.01)})


def silent() -> Runs:
    yield run({"loss": noisy(power(400, 10.9, 2.5), 0.02)})
    yield run({"loss": noisy(decay(200, 2.0, 0.01, rate=20), 0.05)})
    yield run({"loss": noisy(np.linspace(2.0, 1.0, 100), 0.01)})
