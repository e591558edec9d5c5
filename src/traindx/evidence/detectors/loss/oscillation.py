"""The loss swings up and down far beyond its sampling noise.

Three ways to see it. Curves with many points: a swing with a period of several points that noise of
independent batches would not make, or a turn at nearly every point. Curves of whole-epoch means, where batch
noise has averaged out: swings from epoch to epoch of {epoch_swing_share} of the level or more. The swings
must be large against the level ({swing_share}) and against the progress made.

Low where the validation loss came down and ends near its best: then single batches swing, not the model.
Silent for swings at the rhythm of the epoch or of learning-rate restarts, for reinforcement learning and
GANs, and under 16 points (8 of epoch means).
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped, stats
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Loss oscillates", family="swings", explains=("plateau",), guards=("surrogate",))


def detect(
    case: Case,
    loss: Curve,
    *,
    swing_share: float = 0.15,
    epoch_swing_share: float = 0.25,
    p_value: float = 1e-4,
    strong_swing: float = 0.35,
) -> Detected:
    if len(loss) < 8 or (loss.axis != "epoch" and len(loss) < 16):
        return Skipped("at least 16 values of the training loss (8 of epoch means)")
    level = abs(float(np.median(loss.y[len(loss) // 4 :])))
    if not level > 0:
        return None
    swing = _periodic(case, loss, p_value) or _alternating(loss)
    if swing is None and _restarts(case) is None:
        swing = _between_epochs(loss)
    if swing is None:
        return None
    size, manner, least = swing[0] / level, swing[1], swing_share if swing[2] else epoch_swing_share
    if size < least or swing[0] < 0.1 * abs(loss.head - loss.best):
        return None
    severity: Severity = (
        "high" if size > 4 * strong_swing else "medium" if size > strong_swing or not swing[2] else "low"
    )
    if _costs_nothing(case):
        severity = "low"
    times = f"{size:.0%} of" if size < 10 else f"{size:,.3g} times"
    text = f"The loss swings by {times} its level ({level:.4g}), {manner}."
    numbers = {"swing": size}
    return Finding(
        text, "oscillation", severity, float(loss.x[0]), float(loss.x[-1]), loss.name, 0.8, numbers
    )


def _costs_nothing(case: Case, *, near: float = 1.15) -> bool:
    """Whether the validation loss came down and ends near its best: single batches swing, not the model."""
    val = case.val_loss
    if val is None or len(val) < 6 or not val.course.came_down(noises=3.0):
        return False
    end = float(np.median(val.y[-3:]))
    return 0 < end <= near * float(val.y.min()) or end <= float(val.y.min()) + 2 * val.noise


def _periodic(case: Case, loss: Curve, p: float) -> tuple[float, str, bool] | None:
    """A swing with a period, in at most a few hundred stretches."""
    if len(loss) < 16:
        return None
    levels, steps = (loss.y, loss.x) if len(loss) <= 1000 else (loss.coarse.median, loss.coarse.step)
    swing = stats.oscillation(levels)
    plain = swing.p < 100 * p and swing.amplitude > 2 * stats.noise(levels) and levels.size > 5 * swing.period
    if (swing.p > p and not plain) or swing.period < 3 or levels.size < 3.5 * swing.period:
        return None
    apart = float(steps[-1] - steps[0]) / max(1, levels.size - 1)
    period = swing.period * apart
    for rhythm in (case.epoch_length, _restarts(case)):
        if rhythm and 0.8 < (period / rhythm if period > rhythm else rhythm / period) < 1.25:
            return None
    return swing.amplitude, f"with a period of about {period:,.4g} {loss.axis}s", True


def _alternating(loss: Curve) -> tuple[float, str, bool] | None:
    """Up and down from point to point: batch noise has no memory, an overshooting step turns each time."""
    later = loss.y[len(loss) // 4 :]
    if later.size < 16 or stats.autocorrelation(later) > -0.6:
        return None
    return float(np.median(np.abs(np.diff(later)))) / 2, "up and down from point to point", True


def _between_epochs(loss: Curve) -> tuple[float, str, bool] | None:
    """Swings from epoch to epoch: means over whole epochs have next to no noise of their own."""
    if loss.axis != "epoch" or not (loss.y > 0).all() or len(loss) > 1000:
        return None
    later = np.log(loss.y[len(loss) // 4 :])
    turns = np.sign(np.diff(later))
    often = float((turns[1:] * turns[:-1] < 0).mean()) if later.size > 3 else 0.0
    size = stats.noise(later)
    if often < 0.4 or (later.size < 10 and size < 0.3):
        return None
    swing = float(np.quantile(np.abs(np.diff(loss.y[len(loss) // 4 :])), 0.7))
    return swing, "from epoch to epoch", False


def _restarts(case: Case) -> float | None:
    """The period of learning-rate cycles."""
    rate = case.lr
    if rate is None or len(rate) < 6:
        return None
    begun = int(np.argmax(rate.y >= 0.8 * rate.y.max()))  # a warm-up is no restart
    peaks = rate.x[begun + 1 :][np.diff(rate.y[begun:]) > 0.2 * np.ptp(rate.y)]
    return float(np.median(np.diff(peaks))) if peaks.size >= 2 else None


def fires() -> Runs:
    swings = 1.0 + 0.6 * np.sin(np.arange(300) / 6.0)
    yield run({"loss": noisy(swings, 0.05)})
    yield run({"loss": 5 + 4.0 * (-1.0) ** np.arange(200)})
    yield run({"loss": [2.2, 1.1, 2.0, 0.9, 2.4, 1.0, 2.1, 0.8, 2.2, 1.0, 2.3]}, axis="epoch")


def silent() -> Runs:
    yield run({"loss": noisy(decay(300, 3.0, 1.0), 0.3)})
    yield run({"loss": noisy(decay(30, 3.0, 1.0), 0.05)}, axis="epoch")
    walk = 2.0 + np.cumsum(np.random.default_rng(3).standard_normal(300)) * 0.01
    yield run({"loss": walk})
