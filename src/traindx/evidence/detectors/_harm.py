"""Whether a training suffers: what turns a state of its layers into trouble."""

from __future__ import annotations

from math import log

import numpy as np

from traindx.evidence.case import Case, Curve
from traindx.evidence.detectors._learning import learns
from traindx.evidence.detectors._sampled import class_shares
from traindx.evidence.inside import Fact

_FEW = 20
_NO_BETTER = 0.97
_FAR_ABOVE = 4.0
_HALF = 0.5
_MANY = 1000


def suffers(case: Case) -> bool:
    """Whether the loss, if it measures progress, did not come down or not under a constant answer."""
    loss = case.loss
    if loss is None or case.surrogate:
        return False
    if len(loss) < _FEW:
        return loss.broken > len(loss)
    level = trivial_loss(case)
    if level is not None and loss.tail >= _NO_BETTER * level:
        return True
    return not learns(loss) and not 0 <= loss.tail < _HALF * loss.head


def starts_far_above(case: Case) -> bool:
    """Whether the first loss is several times that of a constant answer."""
    loss, level = case.loss, trivial_loss(case)
    return loss is not None and len(loss) > 0 and level is not None and loss.head > _FAR_ABOVE * level


def held_up(case: Case, *, share: float = 0.2, fallen: float = 0.1) -> bool:
    """Whether the loss stood still for the first part of the run although it could fall later."""
    loss = case.loss
    if loss is None or case.surrogate or len(loss) < 50 or not learns(loss):
        return False
    part = loss.y[int(0.75 * share * len(loss)) : int(1.25 * share * len(loss)) + 1]
    return loss.head - float(np.median(part)) < fallen * (loss.head - loss.tail)


def ramps(case: Case, *, bend: float = 0.6) -> bool:
    """Whether the loss falls like a ramp: in its second half nearly as much as in its first."""
    loss = case.loss
    if loss is None or case.surrogate or len(loss) < 50 or not learns(loss, noises=2.0):
        return False
    middle = float(np.median(loss.y[int(0.45 * len(loss)) : int(0.55 * len(loss))]))
    return middle - loss.tail >= bend * (loss.head - middle)


def still_falls(loss: Curve | None, *, share: float = 0.05) -> bool:
    """Whether over its last third the loss fell by a twentieth, and by more than its noise."""
    if loss is None or len(loss) < 12:
        return False
    last = loss.y[-(len(loss) // 3) :]
    earlier, later = np.array_split(last, 2)
    fall = float(np.median(earlier) - np.median(later))
    error = 1.25 * loss.noise * float(np.sqrt(4.0 / last.size))
    return fall > max(share * abs(float(np.median(earlier))), 2.5 * error)


def trivial_loss(case: Case) -> float | None:
    """The loss of a constant answer to targets spread evenly, if the only loss function is known."""
    called = case.inside.losses
    if len(called) != 1 or called[0].get("reduction") != "mean":
        return None
    function = str(called[0].get("function", ""))
    if function in ("cross_entropy", "nll_loss"):
        classes = _classes(called[0])
        return log(classes) if classes > 1 else None
    if function.startswith("binary_cross_entropy"):
        return log(2)
    spread = case.curve("target/std")
    if function == "mse_loss" and spread is not None and len(spread) > 1:
        return float(np.median(spread.y)) ** 2 or None
    return None


def constant_losses(case: Case) -> list[float]:
    """What constant answers cost: to targets spread evenly, and to classes by their recorded shares.

    Which of them holds depends on weights of the classes, which are not recorded.
    """
    level = trivial_loss(case)
    if level is None:
        return []
    function, shares = str(case.inside.losses[0].get("function", "")), class_shares(case)
    if function == "mse_loss" or not 2 <= len(shares) <= _MANY:
        return [level]
    return [level, -sum(share * log(share) for share in shares.values())]


def _classes(called: Fact) -> int:
    sizes = str(called.get("output_shape", "")).split("x")
    if not all(size.isdigit() for size in sizes):
        return 0
    return int(sizes[1]) if len(sizes) > 1 else int(sizes[0])
