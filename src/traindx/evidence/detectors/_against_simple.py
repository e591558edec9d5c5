"""What the model does beside a straight line and a vote of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traindx.evidence.case import Case, Curve
from traindx.evidence.detectors._sampled import COMPARING, late, looked, odd_objective, one_target_each, part
from traindx.evidence.inside import number


@dataclass(frozen=True)
class AgainstSimple:
    """Shares of right answers or of explained variance: what simple models told, what the model reached."""

    told: float
    reached: float
    z: float
    classes: bool
    step: float


def beside_simple(case: Case) -> AgainstSimple | None:
    """The comparison; None where outputs and targets do not allow it."""
    relation = part(case.inside.fact("samples"), "relation")
    told, z, classes = (number(relation, key) for key in ("told", "z", "classes"))
    right = looked(case, "output/right_share" if classes else "output/explained", 3)
    odd = odd_objective(case) or not one_target_each(case) or (not classes and not _compares(case))
    if told is None or z is None or right is None or odd:
        return None
    reached = max(late(right), *_told_elsewhere(case, bool(classes)))
    return AgainstSimple(told, reached, z, bool(classes), float(right.x[-1]))


def no_more_to_tell(case: Case, *, slack: float = 0.02, z: float = 5.0) -> bool:
    """Whether the targets tell something to simple models, and the model has got it all."""
    found = beside_simple(case)
    return found is not None and found.z >= z and found.reached >= found.told + slack


def all_there_is(case: Case, *, near: float = 0.6, faint: float = 0.2) -> bool:
    """Whether the model tells as little of the targets as simple models do, and came to it by learning."""
    told, val = beside_simple(case), case.val_loss
    if told is None or val is None or len(val) < 8 or not 0 < told.told <= faint:
        return False
    learned = val.trend.p < 1e-3 and val.tail < val.head - 2 * val.noise
    return learned and told.reached >= near * told.told


def _compares(case: Case) -> bool:
    """Whether the outputs are the numbers that the targets are."""
    return all(str(loss.get("function", "")) in COMPARING for loss in case.inside.losses)


def _told_elsewhere(case: Case, classes: bool) -> list[float]:
    """How right the model is by what was logged: scores, or the losses against the targets' spread."""
    if classes:
        scores = [case.curve("accuracy"), case.val("accuracy") if _dropout(case) < 0.8 else None]
        return [_share(curve) for curve in scores if curve is not None and len(curve)] or [0.0]
    spread = looked(case, "target/std")
    squared = [loss.get("function") == "mse_loss" for loss in case.inside.losses]
    if spread is None or squared != [True] or not (variance := float(np.median(spread.y)) ** 2) > 0:
        return [0.0]
    ends = [curve.tail for curve in (case.loss, case.val_loss) if curve is not None and len(curve)]
    return [1.0 - end / variance for end in ends if end > 0] or [0.0]


def _share(curve: Curve) -> float:
    return curve.tail / (100.0 if curve.y.max() > 1.5 else 1.0)


def held_down(case: Case, *, share: float = 0.3) -> bool:
    """Whether dropout is in all that is known of the answers: no validation tells what it hides."""
    return case.val_loss is None and case.val("accuracy") is None and share <= _dropout(case) < 0.8


def _dropout(case: Case) -> float:
    """The largest share of units that a model drops."""
    told = [model.get("dropout") for model in case.inside.models]
    given = [one for rates in told if isinstance(rates, list | tuple) for one in rates]
    return max((one for one in given if isinstance(one, float)), default=0.0)
