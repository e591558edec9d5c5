"""Nothing in the inputs tells the targets: simple predictors do no better than on shuffled targets.

The recorder lets a ridge regression and a vote of twelve neighbours tell the target of each of a few hundred
samples from the others. Seen when neither stands out from the same on shuffled targets, with 200 samples and
more, and the model does not learn it either.

A sign: images, sounds and texts may hide from such predictors what a network finds. Silent when the model's
own answers are right, or validation improves. Known mistakes: exactly such data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from traindx.case import Case
from traindx.core import Finding, Run, Skipped
from traindx.detectors._numbers import percent
from traindx.detectors._recorded import odd_objective, one_target_each, part
from traindx.inside import number
from traindx.units import Detector

DETECTOR = Detector(title="Inputs do not tell the targets", needs=("fact:samples",), family="label_sense")


def detect(case: Case, *, z: float = 2.5, gain: float = 0.06, samples: int = 150) -> Finding | Skipped | None:
    relation = part(case.inside.fact("samples"), "relation")
    stands_out, kept = number(relation, "z"), number(relation, "samples")
    told, chance = number(relation, "told"), number(relation, "by_chance")
    if stands_out is None or kept is None or kept < samples or told is None or chance is None:
        return Skipped(f"at least {samples} samples with one target each")
    if odd_objective(case) or not one_target_each(case):
        return Skipped()
    if stands_out > z or told - chance > gain:
        return None
    return Finding(
        f"From {kept:g} samples, a straight line and a vote of neighbours tell {percent(max(0.0, told))} of "
        f"the targets; of shuffled targets {percent(max(0.0, chance))}.",
        severity="low",
        numbers={"told": told, "by_chance": chance},
    )


def _facts(told: float, z: float, samples: int = 500) -> dict[str, Any]:
    relation = {"told": told, "by_chance": 0.2, "spread": 0.02, "z": z, "classes": 5, "samples": samples}
    return {"samples": {"taken": 900, "relation": relation}}


def fires() -> Iterator[Run]:
    from traindx.sketch import run

    yield run({}, facts=_facts(0.21, 0.5))


def silent() -> Iterator[Run]:
    from traindx.sketch import run

    yield run({}, facts=_facts(0.9, 30))
    yield run({}, facts=_facts(0.3, 5))
    yield run({}, facts=_facts(0.2, 0.1, samples=70))
