"""The model answers its training data worse than a straight line or neighbours tell unseen ones.

The recorder keeps a few hundred samples with their targets and lets a ridge regression and a vote of twelve
neighbours tell each target from the others. Seen when these tell clearly more than the model does at its end:
15 points of accuracy, or a fifth of the variance.

Silent where they tell nothing, for runs under 100 steps, and without one target for each sample.
Known mistakes: heavy dropout or augmentation, which hold the training answers down.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from traindx.case import Case
from traindx.core import Finding, Run, Skipped
from traindx.detectors._numbers import percent
from traindx.detectors._recorded import late, looked, odd_objective, one_target_each, part
from traindx.inside import number
from traindx.units import Detector

DETECTOR = Detector(title="Worse than a simple model", needs=("fact:samples", "output/*"), family="learning")


def detect(
    case: Case, *, points: float = 0.15, variance: float = 0.2, z: float = 5.0, steps: int = 100
) -> Finding | Skipped | None:
    relation = part(case.inside.fact("samples"), "relation")
    told, stands_out, classes = (number(relation, key) for key in ("told", "z", "classes"))
    right = looked(case, "output/right_share" if classes else "output/explained", 3)
    odd = odd_objective(case) or not one_target_each(case)
    if told is None or stands_out is None or right is None or odd:
        return Skipped("looks at outputs and targets")
    if right.x[-1] < steps:
        return Skipped(f"at least {steps} steps")
    if stands_out < z or told < 0.1:
        return Skipped()
    reached = late(right)
    if told - reached < (points if classes else variance):
        return None
    what = "of the training answers are right" if classes else "of the variance is explained"
    return Finding(
        f"{percent(max(0.0, reached))} {what}; a straight line or a vote of neighbours reaches "
        f"{percent(told)} on samples it has not seen.",
        symptom="not_learning" if reached < 0.5 * told else "underfitting",
        severity="medium",
        step=float(right.x[-1]),
        numbers={"reached": reached, "simple": told},
    )


def _facts(told: float, z: float, classes: int) -> dict[str, Any]:
    return {"samples": {"taken": 900, "relation": {"told": told, "z": z, "classes": classes, "samples": 500}}}


def fires() -> Iterator[Run]:
    from traindx.sketch import run

    x = [1, 4, 16, 64, 200, 400]
    yield run({"output/explained": (x, [-0.5, 0, 0, 0.02, 0.01, 0.01])}, facts=_facts(0.6, 20, 0))
    yield run({"output/right_share": (x, [0.2, 0.2, 0.2, 0.25, 0.2, 0.2])}, facts=_facts(0.95, 20, 5))


def silent() -> Iterator[Run]:
    from traindx.sketch import run

    x = [1, 4, 16, 64, 200, 400]
    yield run({"output/explained": (x, [-0.5, 0, 0.2, 0.6, 0.7, 0.8])}, facts=_facts(0.6, 20, 0))
    yield run({"output/right_share": (x, [0.2, 0.2, 0.2, 0.25, 0.2, 0.2])}, facts=_facts(0.21, 0.3, 5))
    early = [1, 2, 4, 8, 16, 32]
    yield run({"output/right_share": (early, [0.2] * 6)}, facts=_facts(0.9, 20, 5))
