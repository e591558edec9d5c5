"""A loss that does not move."""

import numpy as np

from traindx.core.facts import facts, number
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
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, noisy, power, run


@Detector(
    "Loss flat from the start",
    family="flat",
    explains=("plateau", "slow_decline"),
    guards=("surrogate", "resumed", "good"),
)
def loss_flat(
    case: Case,
    loss: Curve,
    *,
    min_fall: float = 0.02,
    max_noise: float = 0.3,
    clear_noise: float = 0.08,
    min_points: int = 8,
    min_steps: int = 20,
) -> Detected:
    """The training loss never left its starting level.

    Compares the first and the last tenth of the loss: seen when the fall is under {min_fall} of the start,
    or cannot be told from the curve's own noise, and the loss was never clearly lower in between. Noise must
    be small enough that a real fall would have shown.

    Low when the noise would hide a fall of {clear_noise} or less of the start, and where validation falls
    steadily to what simple models predict of the targets in a recording: little can be predicted at all.
    Low, too, where the whole model was loaded before its first step: it may have learned before.

    Silent when the log begins in the middle of a training (a resumed run may have converged), when a metric
    says that the model does well, for reinforcement learning and GANs, and with fewer than {min_points}
    points.
    """
    if loss.axis == "step" and loss.x[-1] - loss.x[0] < min_steps:
        return Skipped(f"at least {min_steps} steps: fewer need not show in a loss")
    ends = loss.course.ends
    if ends.resolution > max_noise and abs(ends.share) < ends.resolution:
        return Skipped("more or less noisy values of the loss: noise would hide a fall")
    falls = ends.share > max(min_fall, min(ends.resolution, 2.5 * min_fall))
    falls = falls and (ends.z > 3 or ends.share > 2.5 * min_fall)
    size = abs(ends.head) or 1.0
    dipped = ends.deepest > max(2 * min_fall, ends.resolution + 2 * loss.noise / size)
    dipped = dipped or ends.head - float(loss.y.min()) > max(0.3 * size, 12 * loss.noise)
    started_above = max(loss.head, float(loss.y[0])) - ends.tail > max(
        4 * min_fall * abs(loss.head), 6 * loss.noise
    )
    trend = loss.trend
    slides = trend.p < 1e-4 and -trend.change > min_fall * size
    rises = loss.tail - loss.head > max(1.5 * min_fall, min(2 * ends.resolution, 0.15)) * size
    if falls or dipped or started_above or slides or rises:
        return None
    severity: Severity = "high" if len(loss) >= 2 * min_points else "medium"
    if ends.resolution > clear_noise or case.level.has_all_there_is() or _goes_on(case):
        severity = "low"
    text = (
        f"The loss stays at its start: {ends.head:.4g} in the first tenth, {ends.tail:.4g} in the last "
        f"({-ends.share:+.1%}; its noise is about {2 * loss.noise / size:.1%}) over {len(loss):,} values."
    )
    numbers = {"first_value": ends.head, "last_value": ends.tail}
    return Finding(
        text,
        "not_learning",
        severity,
        float(loss.x[0]),
        float(loss.x[-1]),
        loss.name,
        1.0 if abs(ends.share) < min_fall else 0.7,
        numbers,
    )


def _goes_on(case: Case) -> bool:
    """Whether all weights of the model were loaded before its first step."""
    classes = {str(model.get("class")) for model in case.inside.models}
    return any(
        str(load.get("class")) in classes and not number(load, "missing") and not number(load, "step")
        for load in facts(case.run.facts.get("restored"))
    )


@Detector("Loss frozen", family="flat", explains=("plateau", "slow_decline"), guards=("surrogate",))
def loss_frozen(
    case: Case, loss: Curve, *, min_points: int = 5, frozen_share: float = 0.2, min_digits: int = 4
) -> Detected:
    """The loss repeats one value to the last digit.

    Real batches differ, so a loss that is logged with {min_digits} or more significant digits cannot repeat
    itself unless nothing reaches it: no update, outputs that no longer depend on the input, or a value that
    is not recomputed. Seen when the last values (at least {min_points} of them, and {frozen_share} of the
    run) are identical.

    Low when it came to rest: it had fallen by half at least, ever more slowly, with the same data at every
    step (the whole set at once, L-BFGS), and ends under the loss of a constant answer; or it is next to
    nothing of its start.

    Silent when the log rounds so coarsely that repeats are ordinary, and at exactly zero (see
    loss_masked_nan).
    """
    last = float(loss.y[-1])
    differs = np.flatnonzero(np.abs(loss.y - last) > 1e-9 * abs(last))
    first = int(differs[-1]) + 1 if differs.size else 0
    count = len(loss) - first
    if last == 0 or count < max(min_points, frozen_share * len(loss)) or _digits(loss.y) < min_digits:
        return None
    onset = float(loss.x[first])
    rests = _came_to_rest(loss.y[: first + 1]) and not case.harm.suffers
    text = f"The loss is {last:.8g} to the last digit in {count:,} values, from {where(loss, onset)} on."
    return Finding(
        text, "not_learning" if first <= 0.1 * len(loss) else "plateau",
        "low" if rests else "high", onset,
        float(loss.x[-1]), loss.name, numbers={"last_value": last}, marks=(onset,),
    )  # fmt: skip


def _came_to_rest(
    values: FloatArray, *, fallen: float = 0.5, near: float = 1e-3, nearly_all: float = 0.95
) -> bool:
    """Whether the last moves before the end were a thousandth of a fall by half or more; of a few values,
    whether next to nothing is left of the first."""
    fall = float(values[0] - values[-1])
    if values.size < 8:
        return fall > nearly_all * abs(float(values[0]))
    gaps = np.abs(values[-4:] - values[-1])
    return fall > fallen * abs(float(values[0])) and bool((gaps <= near * fall).all())


def _digits(values: FloatArray) -> int:
    """With how many significant digits the last value is told, judged by all of them."""
    last = abs(float(values[-1]))
    sample = values[-2000:]
    for decimals in range(12):
        if np.allclose(np.round(sample, decimals), sample, rtol=1e-12, atol=0):
            return len(str(int(last * 10**decimals))) if last * 10**decimals >= 1 else 0
    return 12


@Detector("Loss stopped falling", family="plateau", guards=("surrogate",))
def plateau(
    case: Case,
    loss: Curve,
    *,
    flat_share: float = 0.4,
    max_gain: float = 0.005,
    loss_left_small: float = 0.1,
    loss_left_large: float = 0.5,
    min_points: int = 12,
) -> Detected:
    """The loss was falling, then stopped, well before the end.

    Finds the last part of the run, at least {flat_share} of it, over which the loss fell by no more than
    {max_gain} of its level or by nothing that can be told from noise. Reports since when (where it came to
    within a twentieth of its fall of that level), at which level, how much of the start is left, where its
    earlier course pointed, and whether the validation loss stopped too.

    From a curve alone a plateau cannot be told from convergence. More than {loss_left_large} of the start
    left is worth knowing (low). It is trouble (medium) where the log shows what holds it: a gradient next to
    nothing, a learning rate far below the usual or gone, a rate that never decays while scores stay mediocre
    (see plateau_without_gradient, plateau_at_small_lr, plateau_at_constant_lr).

    Silent when the loss ended below {loss_left_small} of its start, under {min_points} values, and for
    reinforcement learning and GANs.
    """
    fall = loss.head - loss.tail
    remaining = loss.tail / loss.head if loss.head > 0 else 1.0
    stop = loss.course.standstill(max_gain=max_gain, min_share=flat_share)
    if stop is None or remaining < loss_left_small:
        return None
    if not loss.course.starts_late and fall < max(0.05 * abs(loss.head), 3 * loss.noise):
        return None
    val = case.val_loss
    validation = ""
    if val is not None and len(val) >= 6:
        stopped = val.course.standstill(max_gain=max_gain, min_share=flat_share) is not None
        validation = "; the validation loss stopped too" if stopped else "; the validation loss moves on"
    text = (
        f"The loss stopped falling at {where(loss, stop.since)}: {stop.level:.4g} for the last "
        f"{stop.share:.0%} of the run, {remaining:.0%} of its start is left{validation}"
        f"{_reachable(loss, stop.since, stop.level)}."
    )
    numbers = {"last_value": stop.level, "best_value": loss.best, "left": remaining}
    stuck = case.harm.stuck
    trouble = stuck or (remaining > loss_left_large and not case.level.good)
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


def cases() -> Cases:
    yield from loss_flat.fires(run({"loss": noisy([2.3] * 100, 0.02)}))
    yield from loss_flat.fires(run({"loss": noisy([1e25] * 40, 0.001)}))
    yield from loss_flat.silent(
        run({"loss": noisy(decay(100, 2.3, 1.9), 0.02)}),
        run({"loss": noisy([0.0] * 100, 0.1, relative=False), "reward": [0.0] * 100}, traits=("rl",)),
        run({"loss": noisy([0.05] * 60, 0.1), "val/accuracy": [0.99] * 60}),
        run({"loss": ([900 + n for n in range(60)], noisy([0.5] * 60, 0.05))}),
    )
    yield from loss_frozen.fires(run({"loss": [1.6, 11.8, 11.5, 10.38, *[10.3735] * 20]}))
    yield from loss_frozen.fires(run({"loss": [2.30258] * 30}))
    yield from loss_frozen.silent(run({"loss": [round(v, 3) for v in decay(100, 2.0, 0.004, rate=12)]}))
    yield from loss_frozen.silent(run({"loss": noisy(decay(100, 2.0, 0.5), 0.02)}))
    yield from plateau.fires(run({"loss": noisy([*np.linspace(2.3, 1.2, 40), *[1.2] * 160], 0.01)}))
    yield from plateau.silent(run({"loss": noisy(power(400, 10.9, 2.5), 0.02)}))
    yield from plateau.silent(run({"loss": noisy(decay(200, 2.0, 0.01, rate=20), 0.05)}))
    yield from plateau.silent(run({"loss": noisy(np.linspace(2.0, 1.0, 100), 0.01)}))
