"""A loss that falls slowly."""

import math
from dataclasses import dataclass

import numpy as np

from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Finding,
    FloatArray,
    Severity,
    Skipped,
    stats,
)
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import decay, noisy, power, run


@Detector("Loss creeps downwards", family="creep", guards=("surrogate", "resumed"))
def loss_creeps(
    case: Case,
    loss: Curve,
    *,
    max_fall: float = 0.02,
    min_fall: float = 2e-4,
    z_score: float = 4.5,
    third_share: float = 0.25,
    min_points: int = 12,
) -> Detected:
    """The loss is flat by size, yet falls steadily and beyond doubt.

    A sign that the weights do move, only too little: under {max_fall} of the start in the whole run, but
    downwards from third to third, far beyond what the noise allows, with no bend. Nothing is cut off; the
    steps are too short (a small rate, gradients clipped to nearly nothing).

    Silent when the fall stops half-way, when it cannot be told from noise, when the validation loss does not
    come along (see only_training_moves), in logs that begin in the middle of a training, and for RL and GAN
    losses.
    Known mistakes: a running mean over all steps so far drifts for long after a brief fall.
    """
    thirds = [float(np.median(part)) for part in np.array_split(loss.y, 3)]
    size = abs(loss.head)
    trend = loss.trend
    fall = -trend.change
    if not size > 0 or not min_fall * size < fall < max_fall * size or trend.z > -z_score:
        return None
    falls = thirds[0] - thirds[1], thirds[1] - thirds[2]
    error = 1.25 * loss.noise * float(np.sqrt(6.0 / len(loss)))
    if min(falls) < max(third_share * sum(falls), 3.0 * error) or not _validation_follows(case, fall / size):
        return None
    return Finding(
        f"The loss falls by only {percent(fall / size)} over {len(loss):,} values, but steadily (z "
        f"{trend.z:.0f}): {thirds[0]:.5g}, {thirds[1]:.5g}, {thirds[2]:.5g} by thirds. The weights move.",
        step=float(loss.x[0]),
        end=float(loss.x[-1]),
        numbers={"fall": fall, "z": round(trend.z, 1)},
    )


def _validation_follows(case: Case, share: float) -> bool:
    """Whether the validation loss falls as well, as far as it is there to tell."""
    val = case.val_loss
    if val is None or len(val) < 5:
        return True
    steps, values = val.coarse.step, val.coarse.median
    trend = stats.trend(steps, values)
    return -trend.change > 0.3 * share * abs(float(values[0])) and trend.z < -2.0


@Detector("Slow, steady decline", needs=("loss|val/loss",), family="slow", guards=("surrogate", "good"))
def slow_decline(
    case: Case,
    *,
    max_fall: float = 0.35,
    min_pace_ratio: float = 0.4,
    medium_below_fall: float = 0.25,
    max_first_share: float = 0.35,
    min_points: int = 8,
) -> Detected:
    """The loss falls steadily and has come only a little way.

    A loss that learns at a fitting rate falls fast first and slows down; one that falls at a steady pace has
    not even left its first phase. Seen when the fall is beyond noise but under {max_fall} of the start, the
    first tenth of the run brought no more than {max_first_share} of it, and the later half falls at least
    {min_pace_ratio} times as fast as the earlier one, both per unit of learning rate. Tells how much longer
    half the loss would take. Low in a recording of under 100 steps and ten epochs: that is a trial, and its
    pace says nothing yet.

    Silent when the log begins in the middle of a training, for warm-ups that explain the slow start, for
    reinforcement learning and GANs, and under {min_points} values.
    """
    curve = case.loss if case.loss is not None and len(case.loss) >= min_points else case.val_loss
    if curve is None or len(curve) < min_points:
        return Skipped(f"at least {min_points} values of a loss")
    if not curve.y.min() > 0:
        return Skipped("a positive loss that measures progress")
    start = max(curve.head, float(curve.y[0]))
    fall = (start - curve.tail) / start
    if curve.course.starts_late or not 0.02 < fall < max_fall or curve.trend.p > 0.03:
        return None
    pace = _pace(case, curve)
    if (
        pace is None
        or pace.ratio < min_pace_ratio
        or pace.first_share > max_first_share
        or _warming(case, curve)
    ):
        return None
    severity: Severity = (
        "medium"
        if fall < medium_below_fall
        and pace.ratio > 1.5 * min_pace_ratio
        and len(curve) >= (20 if curve.axis == "step" else 8)
        and curve.noise < 0.4 * (curve.head - curve.tail)
        and not _a_trial(case, curve)
        else "low"
    )
    text = (
        f"The loss fell only {fall:.0%}, from {start:.4g} to {curve.tail:.4g}, at a steady pace; half "
        f"of the rest would take {_how_long(case, curve, pace.runs_to_half)}."
    )
    numbers = {"first_value": start, "last_value": curve.tail, "more_runs": pace.runs_to_half}
    return Finding(
        text, "slow_convergence", severity, float(curve.x[0]), float(curve.x[-1]), curve.name, 0.8, numbers
    )


def _a_trial(case: Case, curve: Curve, *, steps: int = 100, epochs: int = 10) -> bool:
    """Whether a recording holds so few steps and epochs that nobody could expect more of them."""
    last = float(curve.x[-1])
    return case.inside.recorded and last < steps and last < epochs * (case.epoch_length or math.inf)


def _how_long(case: Case, curve: Curve, runs: float) -> str:
    """Epochs where their length is known, else runs as long as this one."""
    length = case.epoch_length if curve.axis == case.run.axis else None
    if length:
        return f"{runs * float(curve.x[-1] - curve.x[0]) / length:,.3g} more epochs"
    return f"{runs:.1f} more runs of this length"


@dataclass(frozen=True)
class _Pace:
    """Late over early speed, both per unit of learning rate; how much of the fall came first."""

    ratio: float
    first_share: float
    runs_to_half: float


def _pace(case: Case, curve: Curve) -> _Pace | None:
    """Speeds of the two halves; None when the later half does not fall beyond its noise."""
    steps, levels = curve.coarse.step, curve.coarse.median
    effort = _effort(case, steps)
    middle = int(np.searchsorted(effort, (effort[0] + effort[-1]) / 2))
    if middle < 2 or levels.size - middle < 3:
        return None
    early = stats.trend(effort[: middle + 1], levels[: middle + 1]).slope
    late = stats.trend(effort[middle:], levels[middle:])
    noise = curve.noise / np.sqrt(max(1.0, len(curve) / levels.size))
    if not (early < 0 and late.slope < 0 and -late.change > 3 * noise / np.sqrt((levels.size - middle) / 3)):
        return None
    tenth = int(np.searchsorted(effort, effort[0] + 0.1 * (effort[-1] - effort[0])))
    first = (curve.head - float(levels[min(max(tenth, 1), levels.size - 1)])) / (curve.head - curve.tail)
    span = float(effort[-1] - effort[0])
    return _Pace(late.slope / early, first, curve.tail / 2 / -late.slope / span)


def _effort(case: Case, steps: FloatArray) -> FloatArray:
    """Steps weighted by the learning rate: a loss that falls slower because the rate decays is steady."""
    rate = case.lr
    if rate is None or len(rate) < 4 or rate.axis != case.run.axis or not rate.y.max() > 0:
        return steps
    weights = np.interp(steps, rate.x, rate.y / rate.y.max())
    moved = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2 * np.diff(steps))])
    return moved if moved[-1] > 0 else steps


def _warming(case: Case, curve: Curve) -> bool:
    """Whether the learning rate was still rising for most of the run."""
    rate = case.lr
    if rate is None or len(rate) < 4:
        return False
    peak = float(rate.x[int(np.argmax(rate.y))])
    return peak > 0.5 * float(curve.x[-1]) and bool(rate.y[0] < 0.5 * rate.y.max())


def cases() -> Cases:
    line = np.linspace(2.3078, 2.2966, 20)
    yield from loss_creeps.fires(run({"loss": line, "val/loss": line - 0.006}, axis="epoch"))
    yield from loss_creeps.fires(run({"loss": noisy(np.linspace(4.9, 4.82, 1000), 0.01)}))
    yield from loss_creeps.silent(
        run({"loss": noisy([2.3] * 500, 0.02)}),
        run({"loss": noisy(decay(100, 2.3, 1.0), 0.02)}),
        run({"loss": noisy(decay(200, 2.33, 2.3, rate=40), 0.0005)}),
        run({"loss": np.linspace(2.307, 2.271, 20), "val/loss": noisy([2.31] * 20, 0.003)}, axis="epoch"),
    )
    yield from slow_decline.fires(run({"loss": noisy(np.linspace(2.3, 2.0, 100), 0.005)}))
    yield from slow_decline.silent(run({"loss": noisy(decay(100, 2.3, 1.8, rate=6), 0.005)}))
    yield from slow_decline.silent(run({"loss": noisy(power(300, 11.0, 2.5), 0.02)}))
    yield from slow_decline.silent(run({"loss": noisy([2.3] * 100, 0.01)}))
