"""Contradictions: an answer against what was measured, and one answer against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import combinations

import numpy as np

from traindx.core.number_text import short
from traindx.core.units import detectors
from traindx.evidence.case import Case
from traindx.interview.answers import Answer
from traindx.knowledge.catalogue import causes, symptoms
from traindx.knowledge.questions import Option, Question, questions, weight_on

_STRONG = 3.0
_FELL = 0.3


def denied(name: str, case: Case) -> str:
    """What the values that were given say against a symptom; empty when they do not."""
    loss, val = case.loss, case.val_loss
    if name == "nonfinite":
        finite = all(np.isfinite(series.values).all() for series in case.run.series.values())
        return f"all {case.run.points:,} values are finite" if loss is not None and finite else ""
    if name == "not_learning" and loss is not None and len(loss) >= 3:
        fell = loss.head - loss.tail > _FELL * abs(loss.head)
        return f"the loss fell from {short(loss.head)} to {short(loss.tail)}" if fell else ""
    if name == "divergence" and loss is not None and len(loss) >= 3:
        low = loss.tail < loss.head and loss.tail <= loss.best + max(2 * loss.noise, 0.1 * abs(loss.best))
        return f"the loss ends at {short(loss.tail)}, near its best" if low else ""
    if name == "overfitting" and val is not None and len(val) >= 3:
        best = float(val.y.min())
        near = float(val.y[-1]) <= best + max(2 * val.noise, 0.02 * abs(best))
        return f"the validation loss ends at {short(float(val.y[-1]))}, its best" if near else ""
    return ""


def excluded(reported: Sequence[str]) -> list[str]:
    """Sentences on symptoms that cannot both be so."""
    pairs = [
        (symptoms()[symptom], symptoms()[excluded_symptom])
        for symptom in reported
        for excluded_symptom in symptoms()[symptom].excludes
        if excluded_symptom in reported
    ]
    return [
        f'You reported "{symptom.statement}" and "{excluded.statement}": both cannot be. Each is judged.'
        for symptom, excluded in pairs
    ]


def against_measured(question: Question, option: Option, checked: Set[str], found_ids: Set[str]) -> str:
    """A sentence when what was measured speaks against an answer; empty when nothing does."""
    if option.sees and option.sees[0] in checked and not found_ids & {*option.sees, *option.shown_by}:
        return f'You answered "{option.say}"; "{_title(option.sees[0])}" was checked, not found. That counts.'
    if option.fine and question.chosen:
        alternatives = (alternative for alternative in question.options.values() if alternative is not option)
        measured = [
            id
            for alternative in alternatives
            for id in (*alternative.sees, *alternative.shown_by)
            if id in found_ids
        ]
        if measured:
            return f'You answered "{option.say}"; but "{_title(measured[0])}" was found. That counts.'
    return ""


def against_each_other(answers: Mapping[str, Answer]) -> list[str]:
    """Sentences on two answers of which one speaks strongly for a cause and the other against it."""
    chosen = [
        (name, questions()[name].options[option])
        for name, answer in answers.items()
        for option in answer.options
    ]
    sentences = []
    for (one_question, option), (other_question, other_option) in combinations(chosen, 2):
        if one_question == other_question:
            continue
        for cause in causes().values():
            bits, rival = weight_on(cause, option), weight_on(cause, other_option)
            if bits * rival < 0 and min(abs(bits), abs(rival)) >= _STRONG:
                title = cause.title.lower()
                sentences.append(
                    f'You answered "{option.say}" and "{other_option.say}": one speaks for {title}, one '
                    "against it. Both were weighed; check one of them."
                )
    return sentences


def _title(id: str) -> str:
    return next((unit.title.lower() for unit in detectors() if unit.id == id), id)
