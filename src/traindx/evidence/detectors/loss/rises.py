"""A training loss that rises."""

import numpy as np

from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Finding,
    Severity,
    Skipped,
    stats,
)
from traindx.evidence.detectors._number_text import where
from traindx.evidence.detectors._rise import (
    another_improves,
    objective_changes,
    rise_of,
    validation_stays,
)
from traindx.evidence.scores import SCORES
from traindx.testing.sketch import decay, noisy, run


@Detector(
    "Loss diverges",
    family="rise",
    explains=("plateau", "slow_decline", "loss_flat", "loss_spikes"),
    guards=("surrogate",),
)
def loss_diverges(
    case: Case,
    loss: Curve,
    *,
    rise_ratio: float = 1.5,
    z_score: float = 5.0,
    max_width: float = 0.15,
    min_points: int = 6,
    few_points: int = 40,
) -> Detected:
    """The loss jumps up and does not come back.

    Compares the level at the end with the best level held before. Seen when the end is {rise_ratio} times
    the best or higher, far outside the curve's noise, and half of the rise took less than {max_width} of the
    run. Critical when the loss ends at or above its start; high otherwise; low while another metric of
    validation gets better all the same (harder data, another objective).

    Silent when the loss falls again after the jump and has won back most of it, or is on its way down and
    under three times its best (restarts of the learning rate, harder data, a hump at the start), when it
    rose as far several times (it swings), when the validation loss is no worse after the jump than before it
    (single batches vary), for reinforcement learning and GANs, and under {min_points} points.
    """
    if objective_changes(case):
        return Skipped("an objective that stays the same (a weight of it is logged and rises)")
    rise = rise_of(loss)
    if rise is None or rise.ratio < rise_ratio or rise.width > max_width or rise.climbs > 2:
        return None
    noise_alone = len(loss) < few_points and 0 < rise.end < 0.5 * loss.head
    if rise.z < (z_score if rise.ratio < 5 or noise_alone else z_score / 2):
        return None
    if (rise.from_first and _metric_improves(case)) or validation_stays(case, rise.onset):
        return None
    if rise.mending and rise.ratio < 3 and loss.course.late_fall > 0.05:  # a hump, not a jump that stays
        return None
    worse = rise.end >= 0.95 * loss.head if loss.head > 0 else rise.lost >= 1
    if not worse and (rise.lost < 0.15 or (rise.mending and rise.lost < 0.5)):
        return None
    severity: Severity = "critical" if worse else "high"
    if another_improves(case, rise.onset):
        severity = "low"
    than = f"its first value was {loss.y[0]:.4g}"
    text = (
        f"The loss jumps at {where(loss, rise.onset)} and stays up: {rise.best:.4g} at best, {rise.end:.4g} "
        f"at the end ({rise.ratio:.3g} times; {than}; {_z(rise.z)})."
    )
    numbers = {"best_value": rise.best, "last_value": rise.end, "rise": rise.ratio}
    return Finding(
        text, "divergence", severity, rise.onset, float(loss.x[-1]), loss.name, numbers=numbers,
        marks=(rise.onset,),
    )  # fmt: skip


def _metric_improves(case: Case) -> bool:
    """Whether a score rises all the same: then the first logged loss was of another kind (spaCy's)."""
    for name in ("score", *SCORES):
        for curve in (case.curve(name), case.val(name)):
            if curve is not None and len(curve) >= 5 and curve.tail > curve.head + 2 * curve.noise:
                return True
    return False


def _z(z: float) -> str:
    return f"{min(z, 99):.0f} standard errors" if z < 99 else "over 99 standard errors"


@Detector("Loss climbs slowly", family="rise", explains=("plateau", "loss_flat"), guards=("surrogate",))
def loss_drifts_up(
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
    """The loss turns and climbs slowly away from its best level.

    Seen when the level at the end is {rise_ratio} times the best or higher ({confirmed_ratio} where half of
    the progress is gone and the validation loss rises as well), significantly so, the trend since the best
    is upwards, and at least {lost_share} of the progress is gone (half of that from {clear_z_score} standard
    errors on). Low while another metric of validation gets better (harder data, another objective); medium;
    high when the loss ends at or above its start.

    Silent when the rise is sudden (loss_diverges), when the training metric is a sum that is never reset
    (metric_accumulates takes it back), for reinforcement learning and GANs, and under ten points.
    """
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
    if another_improves(case, turn) or validation_stays(case, turn):
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


def cases() -> Cases:
    yield from loss_diverges.fires(
        run({"loss": noisy([*decay(60, 2.0, 0.5), *[6.0] * 60], 0.03)}),
        run({"loss": [1.64, 11.8, 11.6, 10.38, 10.37, 10.37, 10.37, 10.37, 10.37, 10.37]}),
    )
    yield from loss_diverges.silent(
        run({"loss": noisy(decay(120, 2.0, 0.5), 0.1)}),
        run({"loss": [0.63, 1.33, 2.05, 2.59, 2.13, 1.78, 1.61, 1.57, 1.48, 1.34, 1.29, 1.16]}),
    )
    back = [*decay(60, 2.0, 0.5), 3.0, *decay(60, 1.0, 0.4)]
    yield from loss_diverges.silent(run({"loss": noisy(back, 0.03)}))
    yield from loss_diverges.silent(run({"loss": noisy(np.linspace(0.1, 5.0, 100), 0.1)}, traits=("gan",)))
    scatters = [0.65, 0.49, 1.1, 0.66, 0.36, 0.13, 0.22, 0.35, 0.35, 0.4, 0.25, 0.44, 0.5, 0.1, 0.075]
    yield from loss_diverges.silent(
        run({"loss": [*scatters, 0.1, 0.39, 0.25, 0.086, 0.053, 0.02, 0.05, 0.077, 0.1, 0.25]})
    )
    yield from loss_drifts_up.fires(
        run({"loss": noisy([*decay(60, 2.0, 0.5), *np.linspace(0.5, 1.4, 100)], 0.05)})
    )
    yield from loss_drifts_up.silent(
        run({"loss": noisy(decay(150, 2.0, 0.5), 0.1)}),
        run({"loss": noisy([*decay(60, 2.0, 0.5), *np.linspace(0.5, 0.53, 100)], 0.02)}),
    )
