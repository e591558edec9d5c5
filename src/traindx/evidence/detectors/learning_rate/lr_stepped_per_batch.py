"""The learning rate collapses within the first epoch, or the first tenth of the run.

The mark of a scheduler that counts epochs but is stepped at every batch: the rate falls {fall_factor} times
or more by the first epoch's end (or a tenth of the planned or logged run) and stays there. Trouble when the
loss makes little headway afterwards; otherwise a sign.

Silent about rates that come back (restarts, cycles) and one lone high value at the start. Could not look when
the log counts epochs only, or with fewer than {min_points} values.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text, times, where
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Learning rate collapses at once", family="lr_schedule")


def detect(
    case: Case,
    lr: Curve,
    *,
    fall_factor: float = 100.0,
    early_share: float = 0.1,
    min_loss_fall: float = 0.2,
    min_points: int = 20,
) -> Detected:
    if lr.axis == "epoch":
        return Skipped(f"at least {min_points} values of the learning rate, by steps")
    top = int(lr.y.argmax())
    peak, begin, end = float(lr.y[top]), float(lr.x[0]), float(lr.x[-1])
    if peak <= 0 or end <= begin or (top == 0 and lr.y[1] < peak / 3):
        return None
    high = np.flatnonzero(lr.y > peak / fall_factor)
    if high[-1] + 1 >= len(lr):
        return None
    gone = float(lr.x[high[-1] + 1])
    horizon = max(early_share * max(case.planned_steps or 0.0, end - begin), 0.0)
    if case.epoch_length and case.run.axis == "step":
        horizon = max(horizon, min(case.epoch_length, 0.5 * (end - begin)))
    if gone - begin > horizon or gone > begin + 0.5 * (end - begin):
        return None
    rate, lost = float(lr.y[high[-1] + 1]), _headway(case, gone)
    trouble = lost is not None and lost < min_loss_fall
    return Finding(
        text=f"The learning rate fell {times(fall_factor)} or more, from {text(peak)} to {text(rate)}, "
        f"by {where(lr, gone)} of {text(end)}, and stayed there.",
        symptom="plateau" if trouble else None,
        severity="high" if trouble else "low",
        step=gone,
        numbers={"lr_last": float(lr.y[-1]), "onset": gone},
        marks=(gone,),
    )


def _headway(case: Case, step: float) -> float | None:
    """What the loss lost after a step, relative to its level there; None when it cannot be told."""
    loss = case.loss
    if loss is None or case.surrogate or loss.axis == "epoch":
        return None
    before, after = loss.before(step), loss.after(step)
    if before.size < 2 or after.size < 5:
        return None
    level = float(np.median(before[-5:]))
    return (level - loss.tail) / abs(level) if level else None


def fires() -> Runs:
    rate = np.maximum(0.1 * 0.9 ** np.arange(2000), 1e-12)
    loss = noisy(np.concatenate([np.linspace(2.3, 2.0, 50), np.full(1950, 1.98)]), 0.02)
    yield run({"lr": rate, "loss": loss})
    yield run({"lr": rate})


def silent() -> Runs:
    yield run({"lr": np.geomspace(0.1, 1e-5, 2000)})
    yield run({"lr": np.tile(np.geomspace(0.1, 1e-4, 50), 10)})
    yield run({"lr": 0.5 ** np.arange(30)}, axis="epoch")
    yield run({"lr": np.concatenate([[5.0], np.linspace(1e-3, 1e-4, 300)])})
