"""Many samples carry another label than all their neighbours, and they lie anywhere, not at a border.

Of a few hundred samples, twelve neighbours each vote on the label. Where classes overlap, samples that are
voted down lie together at the border; wrong labels lie anywhere. Seen when 12 to 50 % are voted down, the
vote is far better than chance, and the voted-down ones do not lie together.

A sign by itself: votes fail for other reasons too. Trouble when the model, which sees more than neighbours
do, ends no better on its training labels; medium when it is far better on the labels of validation.

Silent under 450 samples, and where neighbours tell little (images in the raw, many useless features): then
votes fail everywhere. Known mistakes: classes that overlap evenly over all their range.
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

DETECTOR = Detector(title="Labels against their neighbours", needs=("fact:samples",), family="label_sense")


def detect(
    case: Case,
    *,
    least: float = 0.12,
    most: float = 0.5,
    together: float = 1.15,
    gain: float = 0.25,
    samples: int = 450,
) -> Finding | Skipped | None:
    relation = part(case.inside.fact("samples"), "relation")
    odd, lie, kept = (number(relation, key) for key in ("odd_share", "together", "samples"))
    chance = number(relation, "by_chance")
    if odd is None or kept is None or kept < samples or chance is None or odd_objective(case):
        return Skipped(f"at least {samples} samples with a class each")
    if not one_target_each(case):
        return Skipped()
    if odd < least or lie is None:
        return None
    if (1 - odd) - chance < gain:
        return Skipped()
    if odd > most or lie > together:
        return None
    stuck = _no_better(case, number(relation, "told"))
    cleaner = _validation_ahead(case)
    ahead = (
        f" The model is right on {percent(cleaner)} of the validation labels." if stuck and cleaner else ""
    )
    return Finding(
        f"{percent(odd)} of {kept:g} samples carry another label than their neighbours vote for, and they "
        f"lie anywhere, not at a border between classes.{ahead}",
        symptom="silent_defect" if stuck else None,
        severity="medium" if stuck and cleaner else "low",
        numbers={"odd_share": odd},
    )


def _no_better(case: Case, told: float | None, *, gain: float = 0.08, well: float = 0.85) -> bool:
    """Whether the trained model is right on its own training labels no more often than simple predictors."""
    right = looked(case, "output/right_share", 4)
    if right is None or told is None or case.loss is None or case.loss.tail >= case.loss.head:
        return False
    return late(right) <= min(told + gain, well)


def _validation_ahead(case: Case, *, ahead: float = 0.15) -> float | None:
    """The accuracy on validation data, if it is far above that on training data."""
    right, held_out = looked(case, "output/right_share", 4), case.val("accuracy")
    if right is None or held_out is None or not len(held_out):
        return None
    level = held_out.tail / (100.0 if held_out.y.max() > 1.5 else 1.0)
    return level if level >= late(right) + ahead else None


def _facts(odd: float, together: float, samples: int = 600) -> dict[str, Any]:
    relation = {"odd_share": odd, "together": together, "by_chance": 0.2, "told": 1 - odd, "samples": samples}
    return {"samples": {"taken": 900, "relation": {**relation, "z": 20.0, "classes": 5}}}


def fires() -> Iterator[Run]:
    from traindx.sketch import run

    yield run({}, facts=_facts(0.3, 1.02))


def silent() -> Iterator[Run]:
    from traindx.sketch import run

    yield run({}, facts=_facts(0.2, 2.3))
    yield run({}, facts=_facts(0.03, 1.0))
    yield run({}, facts=_facts(0.3, 1.0, samples=100))
