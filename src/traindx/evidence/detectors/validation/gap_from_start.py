"""Validation is far from training from the first evaluation on, and follows it at that distance.

Compares the validation loss with the training loss at the same step. Seen when it is {min_ratio} times as
high or more at every evaluation, the distance at the first evaluations is {early_share} of that at the end or
more, and validation comes down with training ({min_fall} of its own start). A sign: overfitting opens a gap
that was not there, while other data, other preprocessing, another mode or another formula show at once.

Silent under {min_evaluations} evaluations, and for losses that are not positive.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text, times, where
from traindx.evidence.validation import evaluations, levels_at, steps_on
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Gap from the first evaluation on",
    needs=("loss", "val/loss|test/loss"),
    family="gap_course",
    guards=("surrogate",),
)


def detect(
    case: Case,
    loss: Curve,
    *,
    min_ratio: float = 1.8,
    early_share: float = 0.7,
    min_fall: float = 0.1,
    min_evaluations: int = 6,
) -> Detected:
    val = case.val_loss
    if val is None or len(val) < min_evaluations or len(loss) < min_evaluations:
        return Skipped(f"at least {min_evaluations} evaluations on validation data")
    if not ((val.y > 0).all() and (loss.y > 0).all()):
        return None
    steps, values = evaluations(val)
    beside = levels_at(loss, np.interp(steps, val.x, steps_on(val, loss)))
    few = max(2, values.size // 10)
    early, late = (float(np.median((values - beside)[part])) for part in (slice(few), slice(-few, None)))
    first, last = float(np.median(values[:few])), float(np.median(values[-few:]))
    followed = last <= (1 - min_fall) * first and beside[-1] <= (1 - min_fall) * beside[0]
    if (values < min_ratio * beside).any() or early < early_share * late or not followed:
        return None
    ratio = float(values[0] / beside[0])
    return Finding(
        f"At the first evaluation ({where(val, float(steps[0]))}) the validation loss is {text(values[0])}, "
        f"{times(ratio)} the training loss there; both come down, and the distance stays "
        f"({text(early)} then, {text(late)} at the end).",
        step=float(steps[0]),
        series=val.name,
        strength=strength(ratio, min_ratio, 2 * min_ratio),
        numbers={"gap": late, "gap_first": early},
    )


def fires() -> Runs:
    train = decay(40, 1.0, 0.2)
    yield run({"loss": noisy(train, 0.02), "val/loss": noisy(train + 2.0, 0.02, seed=1)}, axis="epoch")


def silent() -> Runs:
    train = decay(40, 1.0, 0.2)
    opens = np.linspace(1.1, 2.2, 40)
    yield run({"loss": noisy(train, 0.02), "val/loss": noisy(opens, 0.02, seed=1)}, axis="epoch")
    yield run({"loss": noisy(train, 0.02), "val/loss": noisy(train + 0.1, 0.02, seed=1)}, axis="epoch")
    lag = train + np.concatenate([[4.0, 1.5], np.full(38, 0.1)])  # batch-norm statistics of the first epochs
    yield run({"loss": noisy(train, 0.02), "val/loss": noisy(lag, 0.02, seed=1)}, axis="epoch")
