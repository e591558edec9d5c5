"""Answers as evidence: what they say of the run, which findings they are, what they weigh.

A measurement outranks an answer; where they differ, that is reported. An answer that states a fault outranks
how rare that fault is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from traindx.core.nouns import AnswerEvidence, Finding, Severity
from traindx.core.number_text import short
from traindx.core.units import detectors
from traindx.evidence.case import Case
from traindx.evidence.examine import Examination
from traindx.interview.answers import Answer
from traindx.interview.contradictions import against_each_other, against_measured, denied, excluded
from traindx.knowledge.catalogue import causes, symptoms
from traindx.knowledge.questions import ANSWER_WEIGHT, DIRECT, Option, Question, questions

# Somebody who reports a problem has a reason to: as strong as a finding that speaks against health.
_NOT_BENIGN = -4.0


@dataclass(frozen=True, eq=False)
class Weighed:
    """A case with all answers about it, and the sentences on what does not fit together."""

    case: Case
    examination: Examination
    contradictions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Statement:
    """What one option amounts to: a finding, findings that are ruled out (with their families), weights."""

    findings: tuple[Finding, ...] = ()
    ruled_out: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[AnswerEvidence, ...] = ()


@cache
def _families() -> Mapping[str, str]:
    return {unit.id: unit.family for unit in detectors()}


def statement(
    question: Question,
    option: Option,
    checked: Set[str],
    reported: Sequence[str] = (),
    step: float | None = None,
) -> Statement:
    """An option as evidence; what was `checked` already is left to the check.

    A fault that cannot be behind what was `reported` is a problem of its own.
    """
    text, present = answer_text(question, option), _present(option)
    explains = any(symptom in causes()[name].symptoms for name in present for symptom in reported)
    # `sees` of an option are views of one thing: the first is enough.
    findings = tuple(
        Finding(
            text,
            symptom="silent_defect" if present and reported and not explains else None,
            strength=ANSWER_WEIGHT,
            step=step,
            id=id,
            family=_families()[id],
        )
        for id in option.sees[:1]
        if id not in checked
    )
    family = _families()[option.sees[0]] if option.sees else f"answer_{question.id}"
    weighs = bool(option.bits or present)
    id = option.sees[0] if option.sees else f"answer_{question.id}"
    return Statement(
        findings,
        {id: _families()[id] for id in option.rules_out if id not in checked},
        (AnswerEvidence(id, family, text, option.bits, present),) if weighs else (),
    )


def _present(option: Option) -> frozenset[str]:
    """The causes that an answer states directly: an observation of the fault itself."""
    present = {
        name: cause.evidence[id].seen
        for id in option.sees[:1]
        for name, cause in causes().items()
        if id in cause.evidence
    }
    return frozenset(name for name, bits in {**present, **option.bits}.items() if bits >= DIRECT)


def answer_text(question: Question, option: Option) -> str:
    """`You answered: the training data is not shuffled`, in the words of question and option."""
    if not question.chosen and question.series:
        return f"You gave values: {question.series[0]} is {option.say}."
    if question.chosen and len(option.say) < 20:
        return f"You answered: {option.say} ({question.short})"
    return f"You answered: {option.say}."


def weighed(
    case: Case, examination: Examination, reported: Sequence[str], answers: Mapping[str, Answer]
) -> Weighed:
    """An examination with the reported symptoms and the answers."""
    contradictions = excluded(reported) + against_each_other(answers)
    checked = examination.checked
    found_ids = {finding.id for finding in examination.findings}
    symptoms = _corrected(reported, answers)
    findings = [_symptom(name, case, examination, answers, contradictions) for name in symptoms]
    ruled_out: set[str] = set()
    weights: list[AnswerEvidence] = [_complaint()] if reported else []
    for answer, question, option in (*_options(answers), *_levels(answers, checked, found_ids)):
        conflict = against_measured(question, option, checked, found_ids)
        if conflict:
            contradictions.append(conflict)
            continue
        statements = statement(question, option, found_ids, symptoms, answer.step)
        findings += statements.findings
        ruled_out |= set(statements.ruled_out) - checked
        weights += statements.answers
    return Weighed(
        case,
        replace(
            examination,
            findings=(*examination.findings, *findings),
            unseen=examination.unseen | (ruled_out - {finding.id for finding in findings}),
            answers=tuple(weights),
            asked=frozenset(answers) or frozenset({"symptoms"} if reported else ()),
        ),
        tuple(contradictions),
    )


def _options(answers: Mapping[str, Answer]) -> Iterator[tuple[Answer, Question, Option]]:
    for answer in answers.values():
        question = questions()[answer.question]
        yield from ((answer, question, question.options[name]) for name in answer.options)


def _levels(
    answers: Mapping[str, Answer], checked: Set[str], found_ids: Set[str]
) -> Iterator[tuple[Answer, Question, Option]]:
    """What the size of pasted values says; how they go is for the detectors of curves."""
    pasted = {
        name: series
        for answer in answers.values()
        if answer.pasted
        for name, series in answer.pasted.series.items()
    }
    for question in questions().values():
        series = pasted.get(question.series[0]) if question.series else None
        if series is None or not len(series):
            continue
        level = float(np.median(series.values[-max(3, len(series) // 3) :]))
        for option in question.options.values():
            within = option.range is not None and option.range[0] <= level <= option.range[1]
            if within and not found_ids & set(option.sees):
                sees = tuple(id for id in option.sees if id not in checked)
                yield Answer(question.id, short(level)), question, replace(option, sees=sees)


def _corrected(reported: Sequence[str], answers: Mapping[str, Answer]) -> list[str]:
    """The reported symptoms, with what an answer shows them to be instead."""
    symptoms = list(reported)
    for _, question, option in _options(answers):
        if option.symptom:
            symptoms = [option.symptom if name in question.symptoms else name for name in symptoms]
    return list(dict.fromkeys(symptoms))


def _complaint() -> AnswerEvidence:
    """Nobody reports a perfect result as a problem, unless a further answer confirms it."""
    benign = {name: _NOT_BENIGN for name, cause in causes().items() if cause.category == "benign"}
    return AnswerEvidence("complaint", "complaint", "You reported it as a problem.", benign)


def _symptom(
    name: str, case: Case, examination: Examination, answers: Mapping[str, Answer], contradictions: list[str]
) -> Finding:
    """What somebody observed. It counts as the finding of a detector that could not check itself."""
    symptom = symptoms()[name]
    severity: Severity = symptom.severity
    family, stands_for = f"reported_{name}", symptom.finding
    if against := denied(name, case):
        contradictions.append(
            f"You reported: {_lower(symptom.statement)}. The values that were given say otherwise: {against}."
        )
        severity = "low"
    if stands_for in examination.checked:
        stands_for = ""
    elif stands_for:
        family = _families()[stands_for]
    steps = [answer.step for answer in answers.values() if answer.step is not None]
    return Finding(
        text=f"You reported: {_lower(symptom.statement)}.",
        symptom=name,
        severity=severity,
        step=steps[-1] if steps and name == "nonfinite" else None,
        strength=ANSWER_WEIGHT,
        id=stands_for or "reported",
        family=family,
    )


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
