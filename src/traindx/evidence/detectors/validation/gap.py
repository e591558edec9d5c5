"""The distance between training and validation."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped, stats
from traindx.evidence.detectors._frozen import frozen_from
from traindx.evidence.detectors._number_text import percent, strength, text, times, where
from traindx.evidence.validation import evaluations, levels_at, steps_on
from traindx.testing.sketch import decay, noisy, run


@Detector(
    "Gap from the first evaluation on",
    needs=("loss", "val/loss|test/loss"),
    family="gap_course",
    guards=("surrogate",),
)
def gap_from_start(
    case: Case,
    loss: Curve,
    *,
    min_ratio: float = 1.8,
    early_share: float = 0.7,
    min_fall: float = 0.1,
    min_evaluations: int = 6,
) -> Detected:
    """Validation is far from training from the first evaluation on, and follows it at that distance.

    Compares the validation loss with the training loss at the same step. Seen when it is {min_ratio} times
    as high or more at every evaluation, the distance at the first evaluations is {early_share} of that at
    the end or more, and validation comes down with training ({min_fall} of its own start). A sign:
    overfitting opens a gap that was not there, while other data, other preprocessing, another mode or
    another formula show at once.

    Silent under {min_evaluations} evaluations, and for losses that are not positive.
    """
    val = case.val_loss
    if val is None or len(val) < min_evaluations or len(loss) < min_evaluations:
        return Skipped(f"at least {min_evaluations} evaluations on validation data")
    if not ((val.y > 0).all() and (loss.y > 0).all()):
        return None
    steps, values = evaluations(val)
    train = levels_at(loss, np.interp(steps, val.x, steps_on(val, loss)))
    edge = max(2, values.size // 10)
    early, late = (float(np.median((values - train)[part])) for part in (slice(edge), slice(-edge, None)))
    first, last = float(np.median(values[:edge])), float(np.median(values[-edge:]))
    followed = last <= (1 - min_fall) * first and train[-1] <= (1 - min_fall) * train[0]
    if (values < min_ratio * train).any() or early < early_share * late or not followed:
        return None
    ratio = float(values[0] / train[0])
    return Finding(
        f"At the first evaluation ({where(val, float(steps[0]))}) the validation loss is {text(values[0])}, "
        f"{times(ratio)} the training loss there; both come down, and the distance stays "
        f"({text(early)} then, {text(late)} at the end).",
        step=float(steps[0]),
        series=val.name,
        strength=strength(ratio, min_ratio, 2 * min_ratio),
        numbers={"gap": late, "gap_first": early},
    )


@Detector("Only the training loss moves", family="creep", guards=("surrogate", "resumed", "good"))
def only_training_moves(
    loss: Curve,
    val_loss: Curve,
    *,
    min_fall: float = 0.005,
    max_fall: float = 0.12,
    z_score: float = 3.5,
    validation_gain_share: float = 0.45,
    min_points: int = 6,
) -> Detected:
    """The training loss falls a little and beyond doubt; the validation loss does not come along at all.

    A sign that the weights move and learn nothing that holds beyond the training data: labels that do not
    belong to their inputs, or mere noise, are memorised bit by bit. Seen when the training loss falls by
    {min_fall} to {max_fall} of its start while the validation loss, from its first evaluation on, has no
    fall that could be told from its noise.

    Silent when the training loss falls further (then see validation_parts), when the validation loss falls
    too, when it stands to the last digit, and for RL and GAN losses.
    Known mistakes: a validation set so small that its noise hides a small fall.
    """
    size, level = abs(loss.head), abs(val_loss.head)
    trend = loss.trend
    fell = -trend.change / size if size > 0 else 0.0
    if not min_fall < fell < max_fall or trend.z > -z_score or not level > 0:
        return None
    third = max(1, len(val_loss) // 3)
    gain = float(np.median(val_loss.y[:third]) - np.median(val_loss.y[-third:])) / level
    error = 1.25 * val_loss.noise * float(np.sqrt(2.0 / third)) / level
    # What training gained must have been visible on validation data, or nothing can be said.
    if 2.0 * error > fell or len(val_loss) - frozen_from(val_loss.y) >= 5:
        return Skipped("a validation loss that is less noisy and not frozen")
    if gain > validation_gain_share * fell or gain > 3.0 * error:
        return None
    return Finding(
        f"The training loss fell by {percent(fell)} beyond doubt (z {trend.z:.0f}) while the validation loss "
        f"went from {np.median(val_loss.y[:third]):.4g} to {np.median(val_loss.y[-third:]):.4g}: "
        "what is learned does not hold outside the training data.",
        step=float(loss.x[0]),
        end=float(loss.x[-1]),
        series=val_loss.name,
        numbers={"train_fell": fell, "val_fell": gain},
    )


@Detector("Validation better than training", family="validation_level", guards=("surrogate",))
def validation_better(
    loss: Curve, val_loss: Curve, *, margin: float = 0.1, better_share: float = 0.85
) -> Detected:
    """The validation loss lies clearly below the training loss throughout.

    Compares each evaluation with the training loss of the stretch after it, so that a training loss that is
    averaged over an epoch, and so lags behind, does not count. A sign only: dropout, augmentation, mixup or
    label smoothing that act in training alone are the usual reasons; leaked or easier validation data the
    ones to rule out.

    Silent with fewer than four common evaluations, when the two cross, when either may be negative, and for
    RL and GAN losses.
    Known mistakes: a training loss that is summed (over terms, over accumulation steps) and a validation
    loss that is not; a training loss to which a penalty is added.
    """
    if len(val_loss) < 4 or len(loss) < 4:
        return Skipped("at least four evaluations on validation data")
    if not ((loss.y > 0).all() and (val_loss.y > 0).all()):
        return None
    steps, values = evaluations(val_loss)
    steps = np.interp(steps, val_loss.x, steps_on(val_loss, loss))
    _, train_loss, held_out = stats.align(*evaluations(loss), steps, values)
    if train_loss.size < 4:
        return Skipped("at least four evaluations next to training losses")
    first = train_loss.size // 4
    ratio = held_out[first:-1] / train_loss[first + 1 :]
    middle, late = float(np.median(ratio)), float(np.median(ratio[-max(1, ratio.size // 3) :]))
    share = float((ratio < 1.0).mean())
    if middle > 1.0 - margin or late > 1.0 - margin or share < better_share:
        return None
    return Finding(
        f"The validation loss is below the training loss in {percent(share)} of the evaluations, by "
        f"{percent(1.0 - middle)} in the middle; at the end {text(float(held_out[-1]))} against "
        f"{text(float(train_loss[-1]))}.",
        series=val_loss.name,
        strength=strength(1.0 / max(middle, 1e-6), 1.0 + margin, 2.0),
        numbers={"ratio": middle, "val_last": float(held_out[-1]), "train_last": float(train_loss[-1])},
    )


def cases() -> Cases:
    train = decay(40, 1.0, 0.2)
    yield from gap_from_start.fires(
        run({"loss": noisy(train, 0.02), "val/loss": noisy(train + 2.0, 0.02, seed=1)}, axis="epoch")
    )
    opens = np.linspace(1.1, 2.2, 40)
    yield from gap_from_start.silent(
        run({"loss": noisy(train, 0.02), "val/loss": noisy(opens, 0.02, seed=1)}, axis="epoch"),
        run({"loss": noisy(train, 0.02), "val/loss": noisy(train + 0.1, 0.02, seed=1)}, axis="epoch"),
    )
    lag = train + np.concatenate([[4.0, 1.5], np.full(38, 0.1)])  # batch-norm statistics of the first epochs
    yield from gap_from_start.silent(
        run({"loss": noisy(train, 0.02), "val/loss": noisy(lag, 0.02, seed=1)}, axis="epoch")
    )
    yield from only_training_moves.fires(
        run({"loss": np.linspace(2.307, 2.271, 20), "val/loss": noisy([2.31] * 20, 0.003)}, axis="epoch")
    )
    val = (np.arange(1, 11) * 50.0, np.linspace(2.31, 2.36, 10))
    yield from only_training_moves.fires(
        run({"loss": noisy(np.linspace(2.31, 2.15, 500), 0.01), "val/loss": val})
    )
    line = np.linspace(2.3078, 2.2966, 20)
    yield from only_training_moves.silent(
        run({"loss": line, "val/loss": line - 0.006}, axis="epoch"),
        run({"loss": noisy(decay(50, 2.3, 0.5), 0.02), "val/loss": noisy([2.31] * 50, 0.01)}, axis="epoch"),
        run({"loss": noisy([2.3] * 50, 0.02), "val/loss": noisy([2.31] * 50, 0.01)}, axis="epoch"),
    )
    train = noisy(decay(50, 0.07, 0.001), 0.02)
    yield from validation_better.fires(
        run({"loss": train, "val/loss": noisy(decay(50, 0.07, 0.001) * 0.6, 0.05, seed=1)}, axis="epoch")
    )
    dense = noisy(decay(3500, 26.0, 5.0), 0.2)
    yield from validation_better.fires(
        run({"loss": dense, "val/loss": (np.arange(35) * 100, decay(35, 4.4, 2.4))})
    )
    lagging = decay(12, 2.0, 0.2)
    yield from validation_better.silent(
        run({"loss": lagging[:10], "val/loss": lagging[1:11]}, axis="epoch"),
        run({"loss": decay(50, 2.0, 0.5), "val/loss": noisy(decay(50, 2.0, 0.5), 0.1)}, axis="epoch"),
        run({"loss": decay(50, 2.0, 0.5), "val/loss": decay(50, 2.0, 0.7)}, axis="epoch"),
        run({"loss": decay(50, 2.0, -3.0), "val/loss": decay(50, 1.0, -4.0)}, axis="epoch"),
    )
