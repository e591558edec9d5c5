"""The loss turns and climbs slowly away from its best level.

Seen when the level at the end is {rise_ratio} times the best or higher ({confirmed_ratio} where half of the
progress is gone and the validation loss rises as well), significantly so, the trend since the
best is upwards, and at least {lost_share} of the progress is gone (half of that from {clear_z_score} standard
errors on). Low while another metric of validation
gets better (harder data, another objective); medium; high when the loss ends at or above its start.

Silent when the rise is sudden (loss_diverges), when the training metric is a sum that is never reset
(metric_accumulates takes it back), for reinforcement learning and GANs, and under ten points.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped, stats
from traindx.evidence.detectors._number_text import where
from traindx.evidence.detectors._rise import another_improves, objective_changes, rise_of
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Loss climbs slowly", family="rise", explains=("plateau", "loss_flat"), guards=("surrogate",)
)


def detect(
    case: Case,
    loss: Curve,
    *,
    rise_ratio: float = 1.2,
    confirmed_ratio: float = 1.1,
    z_score: float = 5.0,
    lost_share: float = 0.2,
    clear_z_score: float = 20.0,
    quick_width: float = 0.15,
    min_points: int = 8,
) -> Detected:
    if objective_changes(case):
        return Skipped("an objective that stays the same (a weight of it is logged and rises)")
    rise = rise_of(loss)
    if rise is None or rise.climbs > 2:
        return None
    if rise.lost >= 0.5 and _validation_rises(case, confirmed_ratio):
        rise_ratio, z_score = confirmed_ratio, 0.8 * z_score  # a second witness
    if rise.ratio < rise_ratio:
        return None
    clear = rise.z >= clear_z_score and rise.climbs <= 1
    if rise.lost < (lost_share / 4 if rise.ratio >= 1.8 else lost_share / 2 if clear else lost_share):
        return None
    if rise.width <= quick_width and rise.ratio >= 1.5:
        return None
    steps, levels = loss.coarse.step, loss.coarse.median
    since = int(levels.argmin())
    climb = stats.trend(steps[since:], levels[since:])
    steady = climb.p < 0.05 or float((np.diff(levels[since:]) > 0).mean()) >= 0.7
    plain = rise.ratio >= 2 and rise.lost >= 0.5
    sure = rise.z >= (z_score / 3 if plain and steady else z_score if climb.p < 0.01 else 2 * z_score)
    if not climb.slope > 0 or not sure or rise.mending:
        return None
    worse = rise.end >= 0.95 * loss.head if loss.head > 0 else rise.lost >= 1
    severity: Severity = "high" if worse or rise.ratio > 3 else "medium"
    turn = float(steps[since])
    if another_improves(case, turn):
        severity = "low"
    text = (
        f"The loss was best at {where(loss, turn)} ({rise.best:.4g}) and has climbed to {rise.end:.4g}: "
        f"{rise.ratio:.3g} times its best{_lost(rise.lost)}."
    )
    numbers = {"best_value": rise.best, "best_step": turn, "last_value": rise.end, "rise": rise.ratio}
    return Finding(
        text, "divergence", severity, turn, float(loss.x[-1]), loss.name, numbers=numbers, marks=(turn,)
    )


def _validation_rises(case: Case, ratio: float) -> bool:
    val = case.val_loss
    rise = rise_of(val) if val is not None and len(val) >= 6 else None
    return rise is not None and rise.ratio >= ratio and not rise.mending


def _lost(share: float) -> str:
    """How much of the progress is gone, where there was any."""
    return f", {share:.0%} of the progress lost" if share < 2 else ", more than all progress lost"


def fires() -> Runs:
    yield run({"loss": noisy([*decay(60, 2.0, 0.5), *np.linspace(0.5, 1.4, 100)], 0.05)})


def silent() -> Runs:
    yield run({"loss": noisy(decay(150, 2.0, 0.5), 0.1)})
    yield run({"loss": noisy([*decay(60, 2.0, 0.5), *np.linspace(0.5, 0.53, 100)], 0.02)})
