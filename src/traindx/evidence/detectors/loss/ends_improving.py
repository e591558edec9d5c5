"""The validation loss is still falling when the run ends.

Seen when each of the last {falling_evaluations} evaluations is below the one before, and over the last third
of the run the loss fell by at least {min_fall}: it was ended, not done. Never trouble by itself; with a rate
that was not lowered it says that more steps, or a higher rate, would bring more.

Silent when the rate has come down to {lr_lowered_share} of its peak (what is left then falls with the rate),
for reinforcement learning and GANs, and under {min_points} evaluations.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Still improving at the end", family="slow", guards=("surrogate",))


def detect(
    case: Case,
    val_loss: Curve,
    *,
    falling_evaluations: int = 4,
    min_fall: float = 0.1,
    lr_lowered_share: float = 0.5,
    min_points: int = 8,
) -> Detected:
    if len(val_loss) < min_points:
        return Skipped(f"at least {min_points} evaluations on validation data")
    rates = case.curve("lr")
    if rates is not None and len(rates) and float(rates.y[-1]) <= lr_lowered_share * float(rates.y.max()):
        return None
    last = val_loss.y[-(len(val_loss) // 3) - 1 :]
    fell = float(last[0] - last[-1])
    if (
        val_loss.broken
        or last[-1] <= 0
        or not (np.diff(val_loss.y[-falling_evaluations:]) < 0).all()
        or fell < min_fall * last[0]
    ):
        return None
    part = fell / float(last[0])
    return Finding(
        text=f"The validation loss is still falling at the end: by {percent(part)} over the last third of "
        f"the run, to {text(float(last[-1]))}. More steps or a higher rate would bring more "
        "(traindx lr-find finds the rate).",
        strength=strength(part, min_fall, 0.4),
        numbers={"fell": part, "last_value": float(last[-1])},
    )


def fires() -> Runs:
    yield run({"val/loss": [0.9 * 0.93**i for i in range(15)]}, axis="epoch")
    yield run({"val/loss": [2.0 - 0.1 * i for i in range(12)], "lr": [0.001] * 12}, axis="epoch")


def silent() -> Runs:
    yield run({"val/loss": decay(20, 2.0, 0.5)}, axis="epoch")
    yield run({"val/loss": [1.0, 0.5, 0.3, 0.2, 0.15, 0.13, 0.12, 0.125, 0.12, 0.13]}, axis="epoch")
    falling = [0.9 * 0.93**i for i in range(15)]
    yield run({"val/loss": falling, "lr": [0.01 * 0.8**i for i in range(15)]}, axis="epoch")
