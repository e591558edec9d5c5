"""Findings -> a diagnosis: problems with ranked causes, fixes, questions, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from traindx.core.nouns import (
    SEVERITIES,
    Diagnosis,
    Evidence,
    Finding,
    Hypothesis,
    Problem,
    Severity,
    Verdict,
)
from traindx.core.units import detectors
from traindx.evidence.case import Case
from traindx.evidence.examine import Examination
from traindx.knowledge.catalogue import causes, remedies, symptoms
from traindx.knowledge.cause_places import kinds_of_evidence, place_of, speaking_findings, with_patch
from traindx.knowledge.filled_remedies import fixes
from traindx.knowledge.infer import Ranked, Seen, rank
from traindx.knowledge.problems import Complaint, complaints
from traindx.knowledge.questions import next_questions
from traindx.knowledge.run_numbers import facts
from traindx.knowledge.verdict import nothing_judged, reasons_for_health, what_to_log

# How many causes are told, and from which confidence on.
_SHOWN = (6, 0.02)
_EVERY = (60, 0.001)
_BENIGN = 0.5
_PLAIN_BITS = 2.5
_STRONG_BITS = 3.0
_LOGGING = {
    "lr": "Which learning rate was in use, step by step? Log it as lr.",
    "lr|setting:lr": "Which learning rate was in use, step by step? Log it as lr.",
    "setting:lr": "Which learning rate was in use, step by step? Log it as lr.",
    "setting:optimizer": "Which optimizer is in use?",
    "grad_norm": "How large are the gradients? Log their global norm as grad_norm.",
    "val/loss": "How does the validation loss go? Log it as val/loss at least once an epoch.",
    "accuracy": "What is the accuracy on the training data? Log it as accuracy.",
    "setting:batch_size": "How large is the batch?",
    "setting:dropout": "How much dropout is there?",
    "setting:weight_decay": "How much weight decay is there?",
    "setting:precision": "In which precision does it run?",
    "loss_scale": "Is mixed precision in use, and what does its loss scale do? Log it as loss_scale.",
    "data_wait_s": "How long does each step wait for data? Log it as data_wait_s.",
    "step_s": "How long does a step take? Log it as step_s.",
}


def judge(case: Case, examination: Examination, *, every_cause: bool = False) -> Diagnosis:
    """Everything there is to say about a run that has been examined.

    `every_cause` keeps the unlikely ones, which an experiment may bring up.
    """
    ranks = {symptom.id: symptom.rank for symptom in symptoms().values()}
    troubles = troubles_of(case, examination)
    problems = _problems(case, examination, troubles, _EVERY if every_cause else _SHOWN)
    problems.sort(key=lambda p: (SEVERITIES.index(p.severity), ranks[p.symptom]))
    verdict = _verdict(case, problems, examination.findings)
    used = {id(finding) for problem in problems for finding in problem.findings}
    return Diagnosis(
        run=case.run,
        verdict=verdict,
        problems=tuple(problems),
        coverage=examination.checks,
        reasons=_reasons(verdict, case, examination),
        signs=tuple(finding for finding in examination.findings if id(finding) not in used),
        evidence=kinds_of_evidence(case) + (("answers",) if examination.asked else ()),
    )


def _problems(
    case: Case, examination: Examination, troubles: Sequence[Complaint], shown: tuple[int, float]
) -> list[Problem]:
    """One for each trouble; defects that come down to the same cause are one problem."""
    made: dict[str, tuple[Complaint, Problem]] = {}
    for number, trouble in enumerate(troubles):
        problem = _problem(case, examination, trouble, shown)
        alone = {symptoms()[one].kind for one in trouble.symptoms} == {"defect"} and problem.hypotheses
        key = problem.hypotheses[0].cause if alone else str(number)
        if key in made:
            held = made[key][0]
            trouble = replace(held, findings=held.findings + trouble.findings)
            problem = _problem(case, examination, trouble, shown)
        made[key] = (trouble, problem)
    return [problem for _, problem in made.values()]


def _leads_to(finding: str) -> frozenset[str]:
    """The symptoms of the causes that a finding speaks strongly for."""
    strong = (
        cause
        for cause in causes().values()
        if finding in cause.evidence and cause.evidence[finding].seen >= _STRONG_BITS
    )
    return frozenset(symptom for cause in strong for symptom in cause.symptoms)


def _reasons(verdict: Verdict, case: Case, examination: Examination) -> tuple[str, ...]:
    if verdict == "healthy":
        return reasons_for_health(case, examination)
    return what_to_log(case, examination) if verdict == "insufficient_evidence" else ()


def _verdict(case: Case, problems: Sequence[Problem], findings: Sequence[Finding]) -> Verdict:
    """Low problems are worth knowing and leave a run healthy. A run that is too short, that may not learn
    at all, or of which nothing could be judged is neither healthy nor ill.
    """
    if any(problem.severity != "low" for problem in problems):
        return "problem"
    doubtful = any("not_learning" in (problem.symptom, *problem.also) for problem in problems)
    short = any(finding.id == "run_too_short" for finding in findings)
    return "insufficient_evidence" if short or doubtful or nothing_judged(case) else "healthy"


def seen_in(examination: Examination) -> Seen:
    """An examination as inference weighs it."""
    units = {unit.id: unit for unit in detectors()}
    return Seen(
        examination.findings,
        {name: units[name].family for name in examination.unseen},
        {name: unit.title.lower() for name, unit in units.items()},
        examination.told,
    )


def troubles_of(case: Case, examination: Examination) -> list[Complaint]:
    """The problems of a run before anybody asked why, worst first."""
    ranks = {symptom.id: symptom.rank for symptom in symptoms().values()}
    return complaints(examination.findings, ranks, case.span, _leads_to)


def _problem(case: Case, examination: Examination, trouble: Complaint, most: tuple[int, float]) -> Problem:
    ranked, rest = rank(trouble.symptoms, seen_in(examination), causes().values())
    shown = [r for r in ranked[: most[0]] if r.confidence >= most[1]] or ranked[:1]
    rest += sum(r.confidence for r in ranked if r not in shown)
    known = facts(case, trouble.findings + tuple(examination.findings), trouble.onset)
    asked = next_questions(
        {r.cause.id: r.confidence for r in shown},
        rest,
        causes(),
        examination.missing,
        _LOGGING,
        trouble.symptoms,
        asked=examination.asked,
        looked=examination.looked,
    )
    return Problem(
        symptom=trouble.symptoms[0],
        also=trouble.symptoms[1:],
        severity=_severity(trouble.severity, ranked),
        onset_step=trouble.onset,
        summary=trouble.findings[0].text,
        findings=trouble.findings,
        hypotheses=tuple(_hypothesis(r, trouble, known, case, examination) for r in shown),
        rest=max(0.0, rest),
        questions=asked,
    )


def _severity(severity: Severity, ranked: Sequence[Ranked]) -> Severity:
    """What is probably no fault at all is at most worth knowing; what a setting far out of range explains
    is worth acting on.
    """
    benign = sum(r.confidence for r in ranked if r.cause.category == "benign")
    if benign >= _BENIGN:
        return "low"
    first = ranked[0] if ranked else None
    settled = first is not None and first.confidence >= _BENIGN
    if severity == "low" and first is not None and settled:
        set_so = {unit.id for unit in detectors() if unit.from_settings}
        named = [e for e in first.evidence if e.finding in set_so and e.bits >= _PLAIN_BITS]
        return "medium" if named else "low"
    return severity


def _hypothesis(
    ranked: Ranked, trouble: Complaint, known: Mapping[str, str], case: Case, examination: Examination
) -> Hypothesis:
    cause = ranked.cause
    speaking = speaking_findings(ranked, examination.findings)
    return Hypothesis(
        cause=cause.id,
        title=cause.title,
        confidence=ranked.confidence,
        evidence=_with_symptom(ranked.evidence, trouble.findings[0]),
        against=ranked.against,
        fixes=with_patch(fixes((remedies()[name] for name in cause.remedies), known), speaking, case.script),
        confirm=cause.confirm or None,
        avoid=cause.avoid,
        sheets=cause.sheets,
        place=place_of(cause, speaking, case.script),
    )


def _with_symptom(evidence: tuple[Evidence, ...], first: Finding) -> tuple[Evidence, ...]:
    """What made it a problem is always among the evidence, even when it tells no cause from another."""
    if any(item.finding == first.id for item in evidence):
        return evidence
    return (*evidence, Evidence(first.id, first.text, 0.0, first.step, first.series))
