"""Many samples carry another label than all their neighbours, and they lie anywhere, not at a border.

Of a few hundred samples, twelve neighbours each vote on the label. Where classes overlap, samples that are
voted down lie together at the border; wrong labels lie anywhere. Seen when {min_odd_share:%} to
{max_odd_share:%} are voted down, the vote is far better than chance, and the voted-down ones do not lie
together.

A sign by itself: votes fail for other reasons too. Trouble when the model, which sees more than neighbours
do, ends no better on its training labels; medium when it is far better on the labels of validation.

Silent when the model predicts more than the neighbours, in validation or, without it, in training: then the
labels can be learnt. Half as strong where neighbours mean less than a network sees: convolutions, recurrence
or attention, inputs of whole numbers, inputs of which only a part was kept; and trouble there only when
neighbours clearly tell each other's labels.

Could not look under {min_data_samples} samples, at ids and several inputs, and where votes fail for want of
good neighbours: they tell each other's labels far worse than the sample's, or a straight line does better
than the vote. Known mistakes: classes that overlap evenly over all their range.
"""

from typing import Any

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, number
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors._simple_predictors import (
    best_share,
    hidden_by,
    model_of,
    uninformative,
    validated,
)
from traindx.evidence.sampled import late, odd_objective, one_target_each, part, sampled
from traindx.testing.sketch import run

DETECTOR = Detector(title="Labels against their neighbours", needs=("fact:samples",), family="label_sense")


def detect(
    case: Case,
    *,
    min_odd_share: float = 0.12,
    max_odd_share: float = 0.5,
    max_clustering: float = 1.15,
    min_neighbour_gain: float = 0.25,
    min_mutual_agreement: float = 0.7,
    clear_mutual_agreement: float = 0.85,
    linear_model_margin: float = 0.06,
    min_data_samples: int = 450,
) -> Detected:
    relation = part(case.inside.fact("samples"), "relation")
    odd, lie, samples = (number(relation, key) for key in ("odd_share", "together", "samples"))
    chance = number(relation, "by_chance")
    if odd is None or samples is None or samples < min_data_samples or chance is None or odd_objective(case):
        return Skipped(f"at least {min_data_samples} samples with a class each")
    if not one_target_each(case):
        return Skipped()
    if odd < min_odd_share or lie is None:
        return None
    if (nothing := uninformative(case)) is not None:
        return nothing
    predicted, each_other = number(relation, "told"), number(relation, "mutual")
    poor = predicted is not None and predicted - (1 - odd) > linear_model_margin
    if (
        (1 - odd) - chance < min_neighbour_gain
        or poor
        or (each_other is not None and each_other < min_mutual_agreement)
    ):
        return Skipped("neighbours that predict each other's labels")
    if odd > max_odd_share or lie > max_clustering or _learnt(case, 1 - odd):
        return None
    weak = hidden_by(case)
    stuck = (not weak or (each_other or 0.0) >= clear_mutual_agreement) and _no_better(case, predicted)
    cleaner = _validation_ahead(case)
    ahead = (
        f" The model is right on {percent(cleaner)} of the validation labels." if stuck and cleaner else ""
    )
    return Finding(
        f"{percent(odd)} of {samples:g} samples carry another label than their neighbours vote for, and they "
        f"lie anywhere, not at a border between classes.{ahead}"
        + (f" {weak} may mislead the vote." if weak else ""),
        symptom="silent_defect" if stuck else None,
        severity="medium" if stuck and cleaner else "low",
        strength=0.5 if weak else 1.0,
        numbers={"odd_share": odd},
    )


def _no_better(case: Case, predicted: float | None, *, gain: float = 0.08, well: float = 0.85) -> bool:
    """Whether the trained model is right on its own training labels no more often than simple predictors."""
    right = sampled(case, "output/right_share", 4)
    if right is None or predicted is None or case.loss is None or case.loss.tail >= case.loss.head:
        return False
    return late(right) <= min(predicted + gain, well)


def _validation_ahead(case: Case, *, ahead: float = 0.15) -> float | None:
    """The accuracy on validation data, if it is far above that on training data."""
    right, held_out = sampled(case, "output/right_share", 4), case.val("accuracy")
    if right is None or held_out is None or not len(held_out):
        return None
    level = held_out.tail / (100.0 if held_out.y.max() > 1.5 else 1.0)
    return level if level >= late(right) + ahead else None


def _learnt(case: Case, voted: float, *, margin: float = 0.1, behind: float = 0.15) -> bool:
    """Whether the model predicts more than the vote, on labels no cleaner than those it learns from."""
    right, held_out = sampled(case, "output/right_share", 4), case.val("accuracy")
    best = validated(case)
    if held_out is None or best is None:
        trained = late(right) if right is not None else best_share(case.curve("accuracy"))
        return trained is not None and trained >= voted + margin
    if right is not None:
        until = right.y[right.x <= held_out.x[held_out.y.argmax()]][-5:]
        if until.size and float(np.median(until)) < best - behind:
            return False
    return best >= voted + margin


def _facts(
    odd: float, together: float, samples: int = 600, *, inputs: dict[str, Any] | None = None, **scores: float
) -> dict[str, Any]:
    relation = {"odd_share": odd, "together": together, "by_chance": 0.2, "told": 1 - odd, "samples": samples}
    recorded = {"relation": {**relation, "z": 20.0, "classes": 5, **scores}, "input": inputs or {}}
    return {"samples": {"taken": 900, "features": 40, **recorded}}


def fires() -> Runs:
    yield run({}, facts=_facts(0.3, 1.02))
    yield run({}, facts=_facts(0.3, 1.02, mutual=0.95))
    yield run({}, facts={**_facts(0.3, 1.02, mutual=0.95), **model_of("Conv2d")})
    yield run({"val/accuracy": [0.5, 0.6, 0.68, 0.66]}, facts=_facts(0.3, 1.02, mutual=0.9))
    clean = {"val/accuracy": [0.6, 0.8, 0.9, 0.92], "output/right_share": [0.4, 0.55, 0.65, 0.68]}
    yield run(clean, facts=_facts(0.3, 1.02, mutual=0.9))
    memorised = {"val/accuracy": [0.5, 0.66, 0.6, 0.5], "output/right_share": [0.5, 0.7, 0.9, 1.0]}
    yield run(memorised, facts=_facts(0.3, 1.02, mutual=0.9))


def silent() -> Runs:
    yield run({}, facts=_facts(0.2, 2.3))
    yield run({}, facts=_facts(0.03, 1.0))
    yield run({}, facts=_facts(0.3, 1.0, samples=100))
    yield run({}, facts=_facts(0.3, 1.02, mutual=0.3))
    yield run({}, facts=_facts(0.3, 1.02, told=0.9))
    yield run({}, facts=_facts(0.3, 1.02, inputs={"dtype": "int64", "whole": True}))
    yield run({}, facts=_facts(0.3, 1.02, inputs={"dtype": "float32", "beside": 1}))
    yield run(
        {}, facts={**_facts(0.3, 1.02), **model_of("Embedding", embeddings=[{"name": "0", "size": 50}])}
    )
    learnt = {"val/accuracy": [0.5, 0.8, 0.9, 0.91], "output/right_share": [0.5, 0.8, 0.9, 0.95]}
    yield run(learnt, facts=_facts(0.3, 1.02, mutual=0.9))
    yield run({"output/right_share": [0.5, 0.8, 0.9, 0.95, 0.97]}, facts=_facts(0.3, 1.02))
