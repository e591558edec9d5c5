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
from traindx.knowledge.infer import PROVES, Observations, Ranked, rank
from traindx.knowledge.problems import FindingGroup, group_findings
from traindx.knowledge.questions import next_questions
from traindx.knowledge.run_numbers import facts
from traindx.knowledge.verdict import nothing_judged, reasons_for_health, what_to_log

# How many causes are reported, and the least confidence.
SHOWN = (6, 0.02)
_EVERY = (60, 0.001)
_BENIGN = 0.5
# States of a loss that may be the floor of the task, unless a cause of which one is so sure explains them.
_STANDS, _SURE = ("plateau", "slow_convergence", "underfitting"), 0.8
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
    groups = finding_groups(case, examination)
    problems = _problems(case, examination, groups, _EVERY if every_cause else SHOWN)
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
    case: Case, examination: Examination, groups: Sequence[FindingGroup], limits: tuple[int, float]
) -> list[Problem]:
    """One for each group of findings; defects that come down to the same cause are one problem."""
    by_cause: dict[str, tuple[FindingGroup, Problem]] = {}
    for number, group in enumerate(groups):
        problem = _problem(case, examination, group, limits)
        alone = {symptoms()[symptom].kind for symptom in group.symptoms} == {"defect"} and problem.hypotheses
        key = problem.hypotheses[0].cause if alone else str(number)
        if key in by_cause:
            earlier = by_cause[key][0]
            group = replace(earlier, findings=earlier.findings + group.findings)
            problem = _problem(case, examination, group, limits)
        by_cause[key] = (group, problem)
    return [problem for _, problem in by_cause.values()]


def _leads_to(finding: str) -> frozenset[str]:
    """The symptoms of the causes that a finding is strong evidence for."""
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
    harm = case.harm
    open_ended = harm.undecided is not None or harm.unfinished or harm.hardly_moved
    undecided = nothing_judged(case) or open_ended or case.level.confirmed is False
    return "insufficient_evidence" if short or doubtful or undecided else "healthy"


def observations_of(examination: Examination) -> Observations:
    """An examination as inference weighs it."""
    units = {unit.id: unit for unit in detectors()}
    return Observations(
        examination.findings,
        {name: units[name].family for name in examination.unseen},
        {name: unit.title.lower() for name, unit in units.items()},
        examination.answers,
    )


def finding_groups(case: Case, examination: Examination) -> list[FindingGroup]:
    """The problems of a run before their causes are ranked, worst first."""
    ranks = {symptom.id: symptom.rank for symptom in symptoms().values()}
    return group_findings(examination.findings, ranks, case.span, _leads_to)


def _problem(case: Case, examination: Examination, group: FindingGroup, limits: tuple[int, float]) -> Problem:
    ranked, rest = rank(group.symptoms, observations_of(examination), causes().values())
    if symptoms()[group.symptoms[0]].kind == "ended":
        ranked, rest = _named_by(group, ranked)
    likely = [r for r in ranked[: limits[0]] if r.confidence >= limits[1]] or ranked[:1]
    rest += sum(r.confidence for r in ranked if r not in likely)
    texts = facts(case, group.findings + tuple(examination.findings), group.onset)
    kind = symptoms()[group.symptoms[0]].kind
    texts |= {f"symptom:{symptom}": symptom for symptom in group.symptoms if symptoms()[symptom].kind == kind}
    questions = next_questions(
        {r.cause.id: r.confidence for r in likely},
        rest,
        causes(),
        examination.missing,
        _LOGGING,
        group.symptoms,
        asked=examination.asked,
        checked=examination.checked,
    )
    return Problem(
        symptom=group.symptoms[0],
        also=group.symptoms[1:],
        severity=_severity(group, ranked),
        onset_step=group.onset,
        summary=group.findings[0].text,
        findings=group.findings,
        hypotheses=tuple(_hypothesis(r, group, texts, case, examination) for r in likely),
        rest=max(0.0, rest),
        questions=questions,
    )


def _named_by(group: FindingGroup, ranked: Sequence[Ranked]) -> tuple[list[Ranked], float]:
    """Of a crash, the causes that the exception itself names: how common others are explains none."""
    own = {finding.id for finding in group.findings}
    ranking = [r for r in ranked if any(item.finding in own for item in r.evidence)]
    return ranking, 1.0 - sum(r.confidence for r in ranking)


def _severity(group: FindingGroup, ranked: Sequence[Ranked]) -> Severity:
    """What is probably no fault at all is at most worth knowing; what a setting far out of range explains
    is worth acting on, and a loss that stands or creeps where a measurement proves why.
    """
    severity = group.severity
    benign = sum(r.confidence for r in ranked if r.cause.category == "benign")
    if benign >= _BENIGN:
        return "low"
    first = ranked[0] if ranked else None
    settled = first is not None and first.confidence >= _BENIGN
    if severity == "low" and first is not None and settled:
        set_so = {unit.id for unit in detectors() if unit.from_settings}
        stands = group.symptoms[0] in _STANDS and first.confidence >= _SURE
        strong = [
            e
            for e in first.evidence
            if (e.finding in set_so and e.bits >= _PLAIN_BITS) or (stands and e.bits >= PROVES)
        ]
        return "medium" if strong else "low"
    return severity


def _hypothesis(
    ranked: Ranked, group: FindingGroup, texts: Mapping[str, str], case: Case, examination: Examination
) -> Hypothesis:
    cause = ranked.cause
    speaking = speaking_findings(ranked, examination.findings)
    return Hypothesis(
        cause=cause.id,
        title=cause.title,
        confidence=ranked.confidence,
        evidence=_with_symptom(ranked.evidence, group.findings[0]),
        against=ranked.against,
        fixes=with_patch(fixes((remedies()[name] for name in cause.remedies), texts), speaking, case.script),
        confirm=cause.confirm or None,
        avoid=cause.avoid,
        sheets=cause.sheets,
        place=place_of(cause, speaking, case.script),
        kind_of=cause.kind_of,
    )


def _with_symptom(evidence: tuple[Evidence, ...], first: Finding) -> tuple[Evidence, ...]:
    """What made it a problem is always among the evidence, even when it separates no causes."""
    if any(item.finding == first.id for item in evidence):
        return evidence
    return (*evidence, Evidence(first.id, first.text, 0.0, first.step, first.series))
