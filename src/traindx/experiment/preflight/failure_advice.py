"""What to do about a failure: the diagnosis knows causes and remedies of what detectors see."""

from __future__ import annotations

from traindx.core.nouns import Finding, Hypothesis, Number
from traindx.experiment.preflight.check import CheckAnswer, failed
from traindx.experiment.preflight.observations import Flight


def from_finding(flight: Flight, finding: Finding, **numbers: Number) -> CheckAnswer:
    """A failed answer in the words of a detector, with the remedy of the cause it speaks for most."""
    cause = _cause(flight, finding)
    do = ""
    if cause is not None and cause.fixes:
        do = cause.fixes[0].summary
    return failed(
        _plain(finding.text),
        do=do,
        cause=cause.cause if cause is not None else "",
        **{**finding.numbers, **numbers},
    )


def _plain(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _cause(flight: Flight, finding: Finding) -> Hypothesis | None:
    """Of the causes a finding speaks for, the one the diagnosis believes most; else of its problem's."""
    if flight.diagnosis is None:
        return None
    problems = flight.diagnosis.problems
    supported = [
        hypothesis
        for problem in problems
        for hypothesis in problem.hypotheses
        if any(evidence.finding == finding.id and evidence.bits > 0 for evidence in hypothesis.evidence)
    ]
    of_problem = [
        problem.hypotheses[0]
        for problem in problems
        if problem.hypotheses
        and any(problem_finding.id == finding.id for problem_finding in problem.findings)
    ]
    return max(supported or of_problem, key=lambda hypothesis: hypothesis.confidence, default=None)
