"""The learning rate had decayed to almost nothing while the loss was still falling.

Finds where the rate last stood above {low_lr_share} of its peak. Seen when a quarter of the run or more lies
beyond, the loss was falling steadily up to there (not just flattening out) and fast enough to gain
{missed_fall_share} of all its progress in the rest of the run, and from there on it stands still. Seen as
well when the rate is below a thousandth of its peak for more than half of the run and the loss, neither near
zero nor with good scores, stands still since. For a shorter part it is a sign only, and so is a rate below
{faint_lr_share} of its peak for {faint_run_share} of the run, where a loss stands of which
{faint_loss_left} is left.

Silent when the loss had flattened before the rate went, as it should, and when it goes on falling after;
about smooth exponential decays, under which a loss that slows down may as well have converged; in
reinforcement learning and GANs, whose loss says little.
Known mistakes: two causes that act at the same step (data that ends, a phase of the curriculum).
"""

from dataclasses import replace

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._frozen import moved
from traindx.evidence.detectors._number_text import percent, text, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Learning rate decayed early", needs=("lr", "loss"), family="lr_schedule")


def detect(
    case: Case,
    *,
    low_lr_share: float = 0.06,
    idle_lr_share: float = 1e-3,
    run_share_after: float = 0.25,
    pace_before: float = 0.7,
    pace_after: float = 0.15,
    lr_drop_factor: float = 3.0,
    missed_fall_share: float = 0.2,
    idle_run_share: float = 0.5,
    faint_lr_share: float = 0.01,
    faint_run_share: float = 0.4,
    faint_loss_left: float = 0.3,
    loss_left: float = 0.02,
    z_score: float = 4.0,
    min_loss_points: int = 15,
) -> Detected:
    lr, loss = case.lr, case.loss
    if lr is None or loss is None or len(loss) < min_loss_points or len(lr) < 8:
        return Skipped(f"the learning rate and at least {min_loss_points} values of the loss")
    if case.surrogate or lr.axis != loss.axis:
        return Skipped("a loss that measures progress, on the axis of the learning rate")
    peak = float(lr.y.max())
    if peak <= 0:
        return None
    low = _stays_below(lr, low_lr_share * peak)
    begin, end = float(loss.x[0]), float(loss.x[-1])
    if low is None or low <= begin or end - low < run_share_after * (end - begin):
        return None
    window = min((low - begin) / 2, (end - low) / 2)
    speeds = [_fall(loss, low + a * window, low + b * window) for a, b in ((-1, -0.5), (-0.5, 0), (0.5, 2))]
    if any(speed is None for speed in speeds) and not case.harm.lr_gone:
        return Skipped("more values of the loss around the decay of the learning rate")
    first, second, after = (speed or 0.0 for speed in speeds)
    fell_steadily = second >= pace_before * first > 0 and _falls(loss, low, window, z_score)
    missed = second * (end - low) >= missed_fall_share * (loss.head - loss.tail)
    at_once = lr.at(low - window / 2) >= lr_drop_factor * lr.at(low)
    if fell_steadily and missed and at_once and after <= pace_after * second:
        return _finding(lr, loss, low, peak, cut_short=True)
    idle = _stays_below(lr, idle_lr_share * peak)
    if idle is not None and end - idle >= run_share_after * (end - begin):
        wasted = end - idle > idle_run_share * (end - begin) and loss.tail > loss_left * loss.head > 0
        stuck = wasted and not case.level.good and not moved(loss.after(idle), share=0.02, z=3.0)
        return _finding(lr, loss, idle, peak, cut_short=False, stuck=stuck)
    faint, stop = _stays_below(lr, faint_lr_share * peak), case.harm.standstill
    late = stop is not None and stop.since >= low  # it fell until the rate was gone
    if faint is not None and end - faint >= faint_run_share * (end - begin) and late:
        far = not case.level.good and loss.tail >= faint_loss_left * loss.head > 0
        return replace(_finding(lr, loss, faint, peak, cut_short=False), strength=0.8) if far else None
    return None


def _finding(
    lr: Curve, loss: Curve, low: float, peak: float, *, cut_short: bool, stuck: bool = False
) -> Finding:
    rate, end = lr.at(low), float(loss.x[-1])
    share = percent((end - low) / (end - float(loss.x[0])))
    fell = f"The learning rate fell to {text(rate)} ({percent(rate / peak)} of its peak) at {where(lr, low)}"
    phrase = (
        f"{fell} while the loss was falling; since then, for {share} of the run, the loss stays at "
        f"{text(loss.tail)}."
        if cut_short
        else f"{fell}: the last {share} of the run were trained at next to nothing"
        + (f", and the loss stays at {text(loss.tail)}." if stuck else ".")
    )
    return Finding(
        text=phrase,
        symptom="plateau" if cut_short or stuck else None,
        step=low,
        end=end,
        series=lr.name,
        strength=1.0 if cut_short or stuck else 0.4,
        numbers={"lr_last": float(lr.y[-1]), "onset": low},
        marks=(low,),
    )


def _stays_below(lr: Curve, level: float) -> float | None:
    """The step from which on the rate stays at or below a level; None when it ends above."""
    above = np.flatnonzero(lr.y > level)
    after = int(above[-1]) + 1 if above.size else 0
    return float(lr.x[after]) if after < len(lr) else None


def _falls(loss: Curve, end: float, window: float, z: float) -> bool:
    """Whether the loss falls up to a step beyond doubt: over a window, and still over its second half."""
    for share, doubt in ((1.0, z), (0.5, 0.6 * z)):
        inside = (loss.x >= end - share * window) & (loss.x < end)
        if not stats.trend(loss.x[inside], loss.y[inside]).z < -doubt:
            return False
    return True


def _fall(loss: Curve, begin: float, end: float) -> float | None:
    """How fast the loss falls over a stretch, per step: between the medians of its two halves."""
    middle = (begin + end) / 2
    early = loss.y[(loss.x >= begin) & (loss.x < middle)]
    late = loss.y[(loss.x >= middle) & (loss.x <= end)]
    if early.size < 2 or late.size < 2:
        return None
    return float(np.median(early) - np.median(late)) / max((end - begin) / 2, 1e-300)


def fires() -> Runs:
    loss = noisy(np.concatenate([np.linspace(3.0, 1.5, 150), np.full(150, 1.48)]), 0.02)
    yield run({"lr": [1e-3] * 150 + [1e-5] * 150, "loss": loss})
    yield run(
        {"lr": [1e-3] * 150 + [0.0] * 150, "loss": noisy(1.0 + 2.0 * np.exp(-np.arange(300) / 20), 0.02)}
    )
    stepped = 0.05 * 0.5 ** (np.arange(300) // 8)
    yield run({"lr": stepped, "loss": noisy(0.55 + 1.8 * np.exp(-np.arange(300) / 12), 0.05)})


def silent() -> Runs:
    flat = noisy(decay(300, 3.0, 1.0, rate=20), 0.02)
    yield run({"lr": [1e-3] * 150 + [1e-5] * 150, "loss": flat})
    yield run({"lr": np.geomspace(1e-3, 1e-6, 300), "loss": noisy(decay(300, 3.0, 1.0, rate=8), 0.02)})
    cosine = 0.5e-3 * (1 + np.cos(np.linspace(0, np.pi, 300)))
    yield run({"lr": cosine, "loss": noisy(np.linspace(3.0, 1.0, 300), 0.02)})
    staged = np.concatenate([decay(100, 3.0, 2.0, rate=10), decay(100, 1.5, 1.4), decay(100, 1.2, 1.18)])
    yield run({"lr": [0.1] * 100 + [0.01] * 100 + [0.001] * 100, "loss": noisy(staged, 0.02)})
