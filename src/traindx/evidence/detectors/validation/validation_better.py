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

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.validation import evaluations, steps_on
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Validation better than training", family="validation_level", guards=("surrogate",))


def detect(loss: Curve, val_loss: Curve, *, margin: float = 0.1, better_share: float = 0.85) -> Detected:
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


def fires() -> Runs:
    train = noisy(decay(50, 0.07, 0.001), 0.02)
    yield run({"loss": train, "val/loss": noisy(decay(50, 0.07, 0.001) * 0.6, 0.05, seed=1)}, axis="epoch")
    dense = noisy(decay(3500, 26.0, 5.0), 0.2)
    yield run({"loss": dense, "val/loss": (np.arange(35) * 100, decay(35, 4.4, 2.4))})


def silent() -> Runs:
    lagging = decay(12, 2.0, 0.2)
    yield run({"loss": lagging[:10], "val/loss": lagging[1:11]}, axis="epoch")
    yield run({"loss": decay(50, 2.0, 0.5), "val/loss": noisy(decay(50, 2.0, 0.5), 0.1)}, axis="epoch")
    yield run({"loss": decay(50, 2.0, 0.5), "val/loss": decay(50, 2.0, 0.7)}, axis="epoch")
    yield run({"loss": decay(50, 2.0, -3.0), "val/loss": decay(50, 1.0, -4.0)}, axis="epoch")
