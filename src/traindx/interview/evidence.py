"""Answers as evidence: what they say of the run, which findings they are, what they weigh.

A measurement outranks an answer; where they differ, that is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from traindx.core.nouns import AnswerEvidence, Finding, Run, Scalar, Severity
from traindx.core.units import detectors
from traindx.engine import examine
from traindx.evidence.case import Case
from traindx.evidence.examine import Examination
from traindx.interview.answers import Answer
from traindx.interview.contradictions import against_each_other, against_measured, denied, excluded
from traindx.knowledge.catalogue import symptoms
from traindx.knowledge.questions import ANSWER_WEIGHT, Option, Question, questions


@dataclass(frozen=True, eq=False)
class Weighed:
    """A case with all answers about it, and the sentences on what does not fit together."""

    case: Case
    examination: Examination
    contradictions: tuple[str, ...] = ()


def with_told_run(base: Case, answers: Mapping[str, Answer]) -> tuple[Case, Examination, tuple[str, ...]]:
    """The case with the settings and curves of the answers, examined by every detector."""
    contradictions: list[str] = []
    run = _with_settings(base.run, answers, contradictions)
    run = _with_curves(run, answers, contradictions)
    case = base if run is base.run else Case(run, base.script)
    examination = examine(case)
    if not base.run.series:
        # A few pasted values are no run that is too short: they are what somebody chose to show.
        findings = tuple(finding for finding in examination.findings if finding.id != "run_too_short")
        examination = replace(examination, findings=findings)
    return case, examination, tuple(contradictions)


def weighed(
    case: Case, examination: Examination, told_symptoms: Sequence[str], answers: Mapping[str, Answer]
) -> Weighed:
    """An examination with the stated symptoms and the answers."""
    contradictions: list[str] = []
    checked = examination.looked
    found_ids = {finding.id for finding in examination.findings}
    findings = [_symptom(name, case, examination, answers, contradictions) for name in told_symptoms]
    contradictions += excluded(told_symptoms) + against_each_other(answers)
    unseen: set[str] = set()
    answers_told: list[AnswerEvidence] = []
    for answer in answers.values():
        question = questions()[answer.question]
        for name in answer.options:
            option = question.options[name]
            conflict = against_measured(question, option, checked, found_ids)
            if conflict:
                contradictions.append(conflict)
                continue
            # `sees` of an option are views of one thing: the first is enough.
            findings += [
                _finding(question, option, id, answer) for id in option.sees[:1] if id not in found_ids
            ]
            unseen.update(id for id in option.rules_out if id not in checked)
            if option.bits:
                answers_told.append(_told(question, option))
    finding_ids = {finding.id for finding in findings}
    return Weighed(
        case,
        replace(
            examination,
            findings=(*examination.findings, *findings),
            unseen=examination.unseen | (unseen - finding_ids),
            told=tuple(answers_told),
            asked=frozenset(answers) or frozenset({"symptoms"} if told_symptoms else ()),
        ),
        tuple(contradictions),
    )


def _with_settings(run: Run, answers: Mapping[str, Answer], contradictions: list[str]) -> Run:
    """The settings of the run are kept; answers fill the gaps."""
    stated: dict[str, Scalar] = {}
    for answer in answers.values():
        question = questions()[answer.question]
        settings = dict(answer.settings)
        for name in answer.options:
            settings |= question.options[name].set or {}
        if run.axis != "step" or not run.series:
            settings.pop("max_steps", None)
        for name, value in settings.items():
            measured = run.settings.get(name)
            if measured is None:
                stated[name] = value
            elif not _same(measured, value):
                contradictions.append(
                    f"You said {name} is {value}; the run itself says {measured}, and that counts."
                )
    return replace(run, settings={**run.settings, **stated}) if stated else run


def _same(measured: Scalar, value: Scalar) -> bool:
    if isinstance(measured, int | float) and isinstance(value, int | float):
        return abs(measured - value) <= 1e-6 * max(abs(measured), abs(value))
    one, other = str(measured).lower(), str(value).lower()
    return one in other or other in one


def _with_curves(run: Run, answers: Mapping[str, Answer], contradictions: list[str]) -> Run:
    """The curves of the run are kept; pasted ones are used where it has none."""
    for answer in answers.values():
        pasted = answer.pasted
        if pasted is None:
            continue
        new = {name: series for name, series in pasted.series.items() if name not in run.series}
        if not new:
            listed = ", ".join(list(pasted.series)[:3])
            contradictions.append(f"{listed}: given twice; the values that were there first count.")
            continue
        first = not run.series
        run = replace(
            run,
            series={**run.series, **new},
            axis=pasted.axis if first else run.axis,
            settings={**pasted.settings, **run.settings},
            config={**pasted.config, **run.config},
            events=run.events + pasted.events,
            traits=run.traits | pasted.traits,
        )
    return run


def _symptom(
    name: str, case: Case, examination: Examination, answers: Mapping[str, Answer], contradictions: list[str]
) -> Finding:
    """What somebody observed. It counts as the finding of a detector that could not check itself."""
    symptom = symptoms()[name]
    severity: Severity = symptom.severity
    family, stands_for = f"told_{name}", symptom.finding
    if against := denied(name, case):
        contradictions.append(
            f"You said: {_lower(symptom.told)}. The values that were given say otherwise: {against}."
        )
        severity = "low"
    if stands_for in examination.looked:
        stands_for = ""
    elif stands_for:
        family = next(unit.family for unit in detectors() if unit.id == stands_for)
    steps = [answer.step for answer in answers.values() if answer.step is not None]
    return Finding(
        text=f"You said: {_lower(symptom.told)}.",
        symptom=name,
        severity=severity,
        step=steps[-1] if steps and name == "nonfinite" else None,
        strength=ANSWER_WEIGHT,
        id=stands_for or "told",
        family=family,
    )


def _finding(question: Question, option: Option, id: str, answer: Answer) -> Finding:
    unit = next(unit for unit in detectors() if unit.id == id)
    return Finding(
        _said(question, option), strength=ANSWER_WEIGHT, step=answer.step, id=id, family=unit.family
    )


def _told(question: Question, option: Option) -> AnswerEvidence:
    family = f"answer_{question.id}"
    if option.sees:
        family = next(unit.family for unit in detectors() if unit.id == option.sees[0])
    return AnswerEvidence(
        option.sees[0] if option.sees else f"answer_{question.id}",
        family,
        _said(question, option),
        option.bits,
    )


def _said(question: Question, option: Option) -> str:
    """`You said: the training data is not shuffled` in the words of question and option."""
    if question.chosen and len(option.say) < 20:
        return f"You said: {option.say} ({question.short})"
    return f"You said: {option.say}."


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
