"""The loss rose while the learning rate was rising, or at its peak.

Finds the largest rise of the loss above the lowest level it had reached, and looks at the rate where it
began. Seen when the rate was still climbing there, or had just climbed to near its peak. A sign: it
speaks for a rate too high, and gives the rate at which it became so.

Silent when the rate does not vary (then its course shows nothing), when the rise lies within the loss's
own noise, and in reinforcement learning and GANs.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import percent, text, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Loss rises with the learning rate", needs=("loss", "lr"), family="lr_course")


def detect(
    case: Case,
    *,
    rise_share: float = 0.2,
    rise_noises: float = 6.0,
    lr_share_of_peak: float = 0.8,
    min_loss_points: int = 8,
) -> Detected:
    loss, lr = case.loss, case.lr
    if loss is None or lr is None or len(loss) < min_loss_points or len(lr) < 4:
        return Skipped(f"the learning rate and at least {min_loss_points} values of the loss")
    if case.surrogate or loss.axis != lr.axis:
        return Skipped("a loss that measures progress, on the axis of the learning rate")
    rise = _largest_rise(loss, rise_share, rise_noises)
    if rise is None:
        return None
    before, onset, low, high = rise
    rate, peak = lr.at(onset), float(lr.y.max())
    earlier = lr.before(onset)
    climbing = rate > 1.02 * lr.at(before) or (earlier.size > 1 and rate > 1.02 * earlier[-2])
    climbed = rate >= lr_share_of_peak * peak and float(earlier.min(initial=rate)) < 0.5 * rate
    reached = float(lr.x[np.argmax(lr.y >= lr_share_of_peak * peak)])
    climbed &= onset - reached <= max(reached - float(lr.x[0]), 0.1 * float(lr.x[-1] - lr.x[0]))
    if rate <= 0 or not (climbing or climbed):
        return None
    state = "while the learning rate was rising" if climbing else "with the learning rate near its peak"
    return Finding(
        text=f"The loss rose from {text(low)} to {text(high)} from {where(loss, onset)} on, {state}: at "
        f"{text(rate)}, {percent(rate / peak)} of its peak.",
        step=onset,
        series=loss.name,
        strength=1.0 if climbing else 0.6,
        numbers={"lr_rose_at": rate, "onset": onset},
        marks=(onset,),
    )


def _largest_rise(loss: Curve, rise: float, noises: float) -> tuple[float, float, float, float] | None:
    """Step before it, step at which it shows, level before and level reached."""
    steps, levels = loss.coarse.step, loss.coarse.median
    lowest = np.minimum.accumulate(levels)
    above = levels - lowest
    top = int(above.argmax())
    size, low = float(above[top]), float(lowest[top])
    progress = max(loss.head - low, 0.0)
    if size < max(rise * abs(low), rise * progress, noises * loss.noise) or size <= 0:
        return None
    if levels.min() > 0 and np.log(levels[top] / low) < noises * stats.noise(np.log(levels)):
        return None
    if int((above[max(0, top - 2) : top + 3] > 0.4 * size).sum()) < 2:
        return None
    clear = min(0.1 * size, max(rise * abs(low), 4.0 * loss.noise))
    low_at = np.flatnonzero(levels[: top + 1] <= low + clear)
    before = int(low_at[-1])
    onset = min(before + 1, top)
    return float(steps[before]), float(steps[onset]), low, float(levels[top])


def fires() -> Runs:
    rate = np.concatenate([np.linspace(1e-4, 2e-2, 20), np.linspace(2e-2, 1e-4, 100)])
    loss = noisy(np.concatenate([np.full(8, 1.4), np.full(12, 25.0), np.full(100, 7.5)]), 0.03)
    yield run({"lr": rate, "loss": loss})


def silent() -> Runs:
    rate = np.concatenate([np.linspace(1e-4, 2e-2, 20), np.linspace(2e-2, 1e-4, 100)])
    yield run({"lr": rate, "loss": noisy(decay(120, 3.0, 1.0), 0.05)})
    late = noisy(np.concatenate([decay(100, 3.0, 1.0), np.full(20, 3.0)]), 0.03)
    yield run({"lr": rate, "loss": late})
    yield run({"lr": [5.0] * 20, "loss": [1.6] + [11.0] * 19})
