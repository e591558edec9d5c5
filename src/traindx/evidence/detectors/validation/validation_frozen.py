"""The validation loss repeats one value to the last digit while the training loss changes level.

A model that changes gives another validation loss, if only in the last digit. One that repeats says that the
evaluation does not see the model being trained: a stale copy, a checkpoint loaded each time, outputs or a
result kept from the first evaluation. Seen when the last {min_points} evaluations or more are identical, told
with {min_digits} significant digits, and the training loss went elsewhere meanwhile. Without a validation
loss an accuracy counts that is the same from the first evaluation on.

Silent when the training loss stands still as well or only jitters (see weights_stand_still), when the log
rounds coarsely, at exactly zero, and for RL and GAN training.
Known mistakes: an accuracy on a handful of samples may repeat for long.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._frozen import digits_told, frozen_from, moved
from traindx.evidence.detectors._number_text import text, where
from traindx.evidence.validation import steps_on
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Validation frozen",
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


def detect(
    case: Case,
    loss: Curve,
    *,
    min_points: int = 5,
    min_digits: int = 4,
    loss_change: float = 0.02,
    z_score: float = 4.0,
) -> Detected:
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
    if (
        val.y[-1] == 0
        or repeats < (2 * min_points if score else min_points)
        or digits_told(val.y) < min_digits - score
    ):
        return None
    if score and (first > 0 or not 0.0 < float(val.y[-1]) / (100.0 if val.y[-1] > 1.5 else 1.0) < 0.95):
        return None
    begin = float(steps_on(val, loss)[first])
    beside = loss.y[loss.x >= begin]
    if not moved(beside, share=5 * loss_change if score else loss_change, z=z_score):
        return None
    onset = float(val.x[first])
    count = max(1, beside.size // 10)
    ends = text(float(np.median(beside[:count]))), text(float(np.median(beside[-count:])))
    return Finding(
        f"{val.name} is {float(val.y[-1]):.8g} to the last digit in {repeats} evaluations, from "
        f"{where(val, onset)} on, while the training loss went from {ends[0]} to {ends[1]}: what is "
        "evaluated is not the model in training.",
        "silent_defect",
        "medium",
        step=onset,
        end=float(val.x[-1]),
        series=val.name,
        strength=0.7 if score else 1.0,
        numbers={"metric": val.name, "repeats": repeats},
        marks=(onset,),
    )


def fires() -> Runs:
    train = noisy(decay(20, 2.3, 0.05), 0.02)
    yield run({"loss": train, "val/loss": [2.3101] * 20}, axis="epoch")
    steps = np.arange(10) * 60.0
    yield run(
        {"loss": noisy(decay(600, 2.0, 0.4), 0.1), "val/loss": (steps, [2.0, 1.7, 1.5] + [1.41733] * 7)}
    )
    yield run({"loss": train, "val/accuracy": [0.0775] * 20}, axis="epoch")


def silent() -> Runs:
    train = noisy(decay(20, 2.3, 0.05), 0.02)
    yield run({"loss": train, "val/loss": noisy(decay(20, 2.3, 0.3), 0.01)}, axis="epoch")
    yield run({"loss": [2.30258] * 20, "val/loss": [2.30311] * 20}, axis="epoch")
    yield run({"loss": noisy([2.3] * 20, 0.02), "val/loss": [2.30311] * 20}, axis="epoch")
    yield run({"loss": train, "val/loss": [0.31] * 20}, axis="epoch")
    yield run({"loss": decay(30, 1.0, 0.01), "val/accuracy": [0.5, 0.8, *[0.9825] * 28]}, axis="epoch")
