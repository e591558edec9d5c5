"""How far a curve came: shared by the detectors that tell learning from standing still."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traindx.core.nouns import Skipped
from traindx.evidence import stats
from traindx.evidence.case import Case, Curve

NO_SURROGATE = "a loss that measures progress: in RL and GAN training it does not"


def judged_loss(case: Case, points: int) -> Curve | Skipped:
    """The training loss, if its course says something and it has points enough."""
    loss = case.loss
    if loss is None or len(loss) < points:
        return Skipped(f"at least {points} values of the training loss")
    return Skipped(NO_SURROGATE) if case.surrogate else loss


@dataclass(frozen=True)
class LossProgress:
    """`fall` from the first to the last tenth, its share of the start, and its significance.

    `resolution` is the smallest fall between the outer thirds, as a share of the start, that noise would
    let be seen.
    """

    head: float
    tail: float
    fall: float
    share: float
    z: float
    deepest: float
    resolution: float


def progress(curve: Curve) -> LossProgress:
    """Compare the ends of a curve of at least three points."""
    count = max(2, len(curve) // 10)
    first, last = curve.y[:count], curve.y[-count:]
    head, tail = float(np.median(first)), float(np.median(last))
    size = abs(head) or 1.0
    fall = head - tail
    spread = curve.noise * float(np.sqrt(2.0 * 1.57 / max(1, len(curve) // 3)))
    tenths = np.array_split(curve.y, min(10, max(3, len(curve) // 3)))
    deepest = head - min(float(np.median(part)) for part in tenths)
    return LossProgress(
        head, tail, fall, fall / size, stats.significant_rise(last, first), deepest / size, 3 * spread / size
    )


def starts_late(curve: Curve) -> bool:
    """Whether the log begins in the middle of a training: resumed, or its start is not there."""
    first, last = float(curve.x[0]), float(curve.x[-1])
    return curve.axis != "row" and first > 0.3 * last and first > 10 and len(curve) > 3


def good_already(case: Case) -> bool:
    """Whether a metric says the model does well, whatever the loss does."""
    for name in ("accuracy", "auc", "f1", "map50"):
        for curve in (case.curve(name), case.val(name)):
            if curve is not None and len(curve):
                level = curve.tail / (100.0 if curve.y.max() > 1.5 else 1.0)
                if 0.85 <= level <= 1:
                    return True
    return False
