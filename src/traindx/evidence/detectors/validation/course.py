"""The course of the validation."""

from dataclasses import replace

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped, stats
from traindx.evidence.detectors._frozen import frozen_from, moved, significant_digits
from traindx.evidence.detectors._number_text import percent, strength, text, where
from traindx.evidence.scores import SCORES
from traindx.evidence.validation import evaluations, steps_on
from traindx.testing.sketch import decay, noisy, run

# What is left of a training loss that an evaluation of 0 does not belong to.
_FAR_FROM_ZERO = 0.02


@Detector(
    "Validation frozen",
    needs=("val/loss|test/loss|val/accuracy|test/accuracy",),
    family="validation_frozen",
    explains=(
        "validation_parts",
        "validation_bad_from_start",
        "high_without_gap",
        "validation_noisy",
        "validation_better",
        "accuracy_at_majority",
    ),
    guards=("surrogate",),
)
def validation_frozen(
    case: Case,
    loss: Curve,
    *,
    min_points: int = 5,
    min_digits: int = 4,
    loss_change: float = 0.02,
    z_score: float = 4.0,
) -> Detected:
    """The validation loss repeats one value to the last digit while the training loss changes level.

    A model that changes gives another validation loss, if only in the last digit. One that repeats says that
    the evaluation does not see the model being trained: a stale copy, a checkpoint loaded each time, outputs
    or a result kept from the first evaluation. Seen when the last {min_points} evaluations or more are
    identical, told with {min_digits} significant digits, and the training loss went elsewhere meanwhile.
    Without a validation loss an accuracy counts that is the same from the first evaluation on.

    One that is exactly 0 every time, while the training loss is far from it, was never added up.

    Silent when the training loss stands still as well or only jitters (see weights_stand_still), when the
    log rounds coarsely, at an exact zero that is reached in the end, and for RL and GAN training. Known
    mistakes: an accuracy on a handful of samples may repeat for long.
    """
    val = (
        case.val_loss
        if case.val_loss is not None and len(case.val_loss) >= min_points
        else case.val("accuracy")
    )
    if val is None or len(val) < min_points:
        return Skipped(f"a training loss and at least {min_points} evaluations")
    first = frozen_from(val.y)
    score = val is not case.val_loss
    repeats = len(val) - first
    empty = not score and not val.y.any() and loss.tail > _FAR_FROM_ZERO * loss.head > 0
    if not empty and (
        val.y[-1] == 0
        or repeats < (2 * min_points if score else min_points)
        or significant_digits(val.y) < min_digits - score
    ):
        return None
    if score and (first > 0 or not 0.0 < float(val.y[-1]) / (100.0 if val.y[-1] > 1.5 else 1.0) < 0.95):
        return None
    begin = float(steps_on(val, loss)[first])
    training = loss.y[loss.x >= begin]
    if not empty and not moved(training, share=5 * loss_change if score else loss_change, z=z_score):
        return None
    onset = float(val.x[first])
    count = max(1, training.size // 10)
    ends = text(float(np.median(training[:count]))), text(float(np.median(training[-count:])))
    sentence = (
        f"{val.name} is {float(val.y[-1]):.8g} to the last digit in {repeats} evaluations, from "
        f"{where(val, onset)} on, while the training loss went from {ends[0]} to {ends[1]}: what is "
        "evaluated is not the model in training."
    )
    if empty:
        sentence = (
            f"{val.name} is exactly 0 in all {repeats} evaluations, while the training loss ends at "
            f"{ends[1]}: the evaluation adds nothing up, or has no data."
        )
    return Finding(
        sentence,
        "silent_defect",
        "medium",
        step=onset,
        end=float(val.x[-1]),
        series=val.name,
        strength=0.7 if score else 1.0,
        numbers={"metric": val.name, "repeats": repeats},
        marks=(onset,),
    )


@Detector(
    "Validation too noisy to judge",
    needs=("val/*|test/*|map|map50|hit_rate|ndcg|mrr|bleu|rouge|exact_match",),
    family="validation_noise",
    guards=("surrogate",),
)
def validation_noisy(
    case: Case,
    *,
    loss_noise: float = 0.08,
    score_noise: float = 0.03,
    min_points: int = 8,
    costly_share: float = 0.3,
    costly_of_start: float = 0.12,
    costly_score: float = 0.04,
    smooth_factor: float = 3.0,
) -> Detected:
    """Validation jumps so much from one evaluation to the next that small changes cannot be told.

    Measures the noise of the validation loss (or of an accuracy-like score) over the second half of the run,
    against its level and against what it gained there. A small or unrepresentative validation set, batch
    statistics over few samples or too high a learning rate make it so, and a single best evaluation is then
    luck. A sign, and trouble where training is smooth and the jumps cost much: the loss jumps by
    {costly_share} of its level and {costly_of_start} of its first value, {smooth_factor} times as much as
    that of training, and so do the scores, if there are any (by {costly_score}).

    Silent with fewer than {min_points} evaluations, while the curve still improves by more than its noise,
    and for RL and GAN losses. Known mistakes: metrics that are rounded coarsely look noisier than they are.
    """
    measured = False
    for curve in (case.val_loss, *(case.val(name) for name in SCORES[:5])):
        if curve is None or len(curve) < min_points:
            continue
        is_score = curve.goal == "higher"
        if (is_score and shares(curve) is None) or (not is_score and not (curve.y > 0).all()):
            continue
        measured = True
        level, noise, gained = _second_half(curve)
        share = noise / level if not is_score else noise / (100.0 if curve.y.max() > 1.5 else 1.0)
        limit = score_noise if is_score else loss_noise
        if share >= limit and noise >= 0.5 * abs(gained):
            finding = _noise_finding(curve, level, noise, share, limit)
            costly = (
                not is_score
                and share >= costly_share
                and noise >= costly_of_start * curve.head
                and _smooth(case, share, smooth_factor, min_points)
                and all(size >= costly_score for size in _score_noises(case, min_points))
            )
            return replace(finding, symptom="oscillation", severity="medium") if costly else finding
    return None if measured else Skipped(f"at least {min_points} evaluations on validation data")


@Detector(
    "Training and validation swing",
    family="swings",
    explains=("validation_noisy", "plateau"),
    guards=("surrogate",),
    harms="calm",
)
def validation_swings(
    case: Case,
    loss: Curve,
    *,
    score_noise: float = 0.05,
    loss_noise: float = 0.4,
    train_noise: float = 0.3,
    error_ratio: float = 2.5,
    min_points: int = 12,
) -> Detected:
    """The model gets better and worse by large steps to the end: what it ends with is luck.

    Seen in the second half of a run when a validation score jumps by {score_noise} from one evaluation to
    the next (standard deviation), the usual evaluation has {error_ratio} times as many errors as the better
    ones, and the losses of validation and of training jump as well, by {loss_noise} and {train_noise} of
    their level: so it is the weights that jump, and not a small validation set. Too large a learning rate
    for the end of a training does that, and batches that are not alike.

    Silent while training is smooth (`validation_noisy`), where the score has few values (a validation set of
    a few dozen samples), while it still improves by more than its noise, and where the last evaluations are
    among the best.
    """
    val, scores = case.val_loss, [case.val(name) for name in SCORES[:5]]
    usable = [c for c in scores if c is not None and len(c) >= min_points and shares(c) is not None]
    if val is None or len(val) < min_points or not usable:
        return Skipped(f"at least {min_points} evaluations of a loss and a score on validation data")
    if min(*_jumps(val)) < loss_noise or _swing(loss, windows=len(val)) < train_noise:
        return None
    for curve in usable:
        _, values = evaluations(curve)
        whole = 100.0 if curve.y.max() > 1.5 else 1.0
        half = values[values.size // 2 :] / whole
        level, noise, gained = (part / whole for part in _second_half(curve))
        coarse = np.unique(half).size <= half.size // 3
        better = 1.0 - float(np.quantile(half, 0.85))
        if coarse or noise < score_noise or noise < 0.5 * abs(gained) or 1 - level < error_ratio * better:
            continue
        low, high = (float(np.quantile(half, share)) for share in (0.1, 0.9))
        return Finding(
            f"In the second half of the run {curve.name} swings between {text(low)} and {text(high)} (10-90 "
            f"%), and the training loss with it: what the run ends with is luck.",
            symptom="oscillation",
            severity="medium",
            step=float(curve.x[len(curve) // 2]),
            series=curve.name,
            numbers={"low": low, "high": high, "noise": noise},
        )
    return None


def _jumps(curve: Curve) -> tuple[float, float]:
    """How much a loss jumps between evaluations in the second half, by its level and by its mean."""
    _, values = evaluations(curve)
    half = values[values.size // 2 :]
    noise = stats.noise(half)
    return noise / max(1e-300, abs(float(np.median(half)))), noise / max(1e-300, abs(float(half.mean())))


def _swing(loss: Curve, *, windows: int) -> float:
    """How much the mean training loss of one stretch differs from that of the next, in the second half."""
    half = loss.y[loss.y.size // 2 :]
    pieces = np.array([piece.mean() for piece in np.array_split(half, max(4, windows // 2)) if piece.size])
    return float(stats.noise(pieces) / max(1e-300, abs(float(np.median(pieces)))))


def _second_half(curve: Curve) -> tuple[float, float, float]:
    """Level, noise between evaluations, and the change from the third to the fourth quarter."""
    _, values = evaluations(curve)
    half = values[values.size // 2 :]
    middle = half.size // 2
    gained = float(np.median(half[middle:]) - np.median(half[:middle]))
    return float(np.median(half)), stats.noise(half), gained


def _smooth(case: Case, share: float, factor: float, points: int) -> bool:
    """Whether the training loss came down and jumps much less than this share of its level."""
    train = case.loss
    if train is None or len(train) < points or not train.course.came_down(share=0.2):
        return False
    level, noise, _ = _second_half(train)
    return noise * factor <= share * abs(level)


def _score_noises(case: Case, points: int) -> list[float]:
    """How much each validation score jumps, as a share of one."""
    curves = [case.val(name) for name in SCORES[:5]]
    return [
        _second_half(curve)[1] / (100.0 if curve.y.max() > 1.5 else 1.0)
        for curve in curves
        if curve is not None and len(curve) >= points and shares(curve) is not None
    ]


def _noise_finding(curve: Curve, level: float, noise: float, share: float, limit: float) -> Finding:
    size = f", {percent(share)} of its level" if curve.goal != "higher" else ""
    sentence = (
        f"{curve.name} jumps by {text(noise)} (standard deviation) from one evaluation to the next{size}: in "
        f"the second half of the run it lies around {text(level)}."
    )
    numbers = {"val_noise": noise, "val_noise_share": share}
    return Finding(sentence, series=curve.name, strength=strength(share, limit, 4.0 * limit), numbers=numbers)


def cases() -> Cases:
    swings = noisy(np.tile([0.02, 0.25, 0.12, 0.3, 0.03, 0.22], 10), 0.05)
    right = {"val/accuracy": 1 - swings, "val/loss": 2 * swings}
    yield from validation_swings.fires(run({"loss": swings, **right}, axis="epoch"))
    calm = noisy(decay(60, 2.0, 0.2), 0.02)
    yield from validation_swings.silent(run({"loss": calm, **right}, axis="epoch"))
    settled = {"val/accuracy": noisy(np.full(60, 0.9), 0.01), "val/loss": noisy(np.full(60, 0.3), 0.1)}
    yield from validation_swings.silent(run({"loss": swings, **settled}, axis="epoch"))
    train = noisy(decay(20, 2.3, 0.05), 0.02)
    yield from validation_frozen.fires(run({"loss": train, "val/loss": [2.3101] * 20}, axis="epoch"))
    steps = np.arange(10) * 60.0
    yield from validation_frozen.fires(
        run({"loss": noisy(decay(600, 2.0, 0.4), 0.1), "val/loss": (steps, [2.0, 1.7, 1.5] + [1.41733] * 7)}),
        run({"loss": train, "val/accuracy": [0.0775] * 20}, axis="epoch"),
        run({"loss": train, "val/loss": [0.0] * 20}, axis="epoch"),
    )
    train = noisy(decay(20, 2.3, 0.05), 0.02)
    yield from validation_frozen.silent(
        run({"loss": train, "val/loss": noisy(decay(20, 2.3, 0.3), 0.01)}, axis="epoch"),
        run({"loss": [2.30258] * 20, "val/loss": [2.30311] * 20}, axis="epoch"),
        run({"loss": noisy([2.3] * 20, 0.02), "val/loss": [2.30311] * 20}, axis="epoch"),
        run({"loss": train, "val/loss": [0.31] * 20}, axis="epoch"),
        run({"loss": decay(30, 1.0, 0.01), "val/accuracy": [0.5, 0.8, *[0.9825] * 28]}, axis="epoch"),
    )
    yield from validation_noisy.fires(
        run({"loss": decay(40, 2.0, 0.5), "val/loss": noisy(decay(40, 2.0, 0.8), 0.2, seed=3)}, axis="epoch")
    )
    jumps = noisy(np.full(30, 42.0), 7.0, seed=3, relative=False)
    yield from validation_noisy.fires(run({"loss": decay(30, 2.0, 0.5), "val/accuracy": jumps}, axis="epoch"))
    yield from validation_noisy.silent(
        run({"loss": decay(40, 2.0, 0.5), "val/loss": noisy(decay(40, 2.0, 0.8), 0.02)}, axis="epoch"),
        run({"loss": decay(5, 2.0, 0.5), "val/loss": [2.0, 1.0, 1.4, 0.8, 1.1]}, axis="epoch"),
        run({"val/accuracy": noisy(np.full(30, 0.8), 0.005)}, axis="epoch"),
    )
