"""What a recording by itself says about a suspected cause: its evidence, its place, what was not checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from traindx.core.nouns import Diagnosis, Evidence, Hypothesis, Place, Problem, Run
from traindx.core.pool import pool_of
from traindx.engine import examine
from traindx.evidence.case import Case
from traindx.evidence.examine import Examination
from traindx.experiment.arm_diagnosis import acute
from traindx.knowledge.catalogue import PRIORS, Cause, causes, remedies, symptoms
from traindx.knowledge.filled_remedies import fixes
from traindx.knowledge.infer import evidence_on
from traindx.knowledge.judge import observations_of
from traindx.knowledge.run_numbers import facts
from traindx.knowledge.suspicions import DECISIVE_BITS, SUSPECTED_BITS
from traindx.source.anchors import anchor
from traindx.source.script import Script

Answer = Literal["confirmed", "refuted", "not testable"]
# One finding that is all but proof of its cause.
_PROOF_BITS = 4.5
# A cause leads its problem so clearly that no experiment could say more.
_LEADS = 0.9
_OUT = 0.05
# How likely a suspicion is right before anything was measured, where nothing looks wrong: as odds.
_ODDS = 0.25


@dataclass(frozen=True)
class RecordedCause:
    """What was measured for and against one cause.

    `lines` are those that evidence for it names, `set_at` is where the script sets what it is about, and
    `lengths` are the files of the script with their numbers of lines.
    `problem` is the one that it may be behind, or one of its own where nothing looks like it.
    """

    cause: Cause
    evidence: tuple[Evidence, ...]
    lines: tuple[Place, ...]
    set_at: Place | None
    missing: tuple[str, ...]
    lengths: Mapping[str, int]
    problem: Problem
    listed: bool
    others_symptom: str = ""
    """What is wrong, where this cause does not lead to it."""

    @property
    def bits(self) -> float:
        return sum(item.bits for item in self.evidence)

    @property
    def share(self) -> float:
        return next(
            hypothesis.confidence
            for hypothesis in self.problem.hypotheses
            if hypothesis.cause == self.cause.id
        )

    @property
    def leads(self) -> bool:
        return self.listed and self.problem.hypotheses[0].cause == self.cause.id and self.share >= _LEADS

    @property
    def ruled_out(self) -> bool:
        """Whether measurements together speak clearly against it."""
        return self.bits <= -DECISIVE_BITS and not (self.listed and self.share > _OUT)

    def decided(self) -> tuple[Answer, str] | None:
        """What one measurement by itself proves or refutes."""
        first = max(self.evidence, key=lambda item: item.bits, default=None)
        last = min(self.evidence, key=lambda item: item.bits, default=None)
        if first is not None and self.leads and first.bits >= _PROOF_BITS:
            return "confirmed", first.text
        if last is not None and self.ruled_out and last.bits <= -DECISIVE_BITS:
            return "refuted", last.text
        return None

    def together(self) -> tuple[Answer, str] | None:
        """What all measurements say together, where no experiment says more."""
        ranked = sorted(self.evidence, key=lambda item: item.bits)
        if self.ruled_out:
            return "refuted", " ".join(item.text for item in ranked[:3] if item.bits < 0)
        if self.leads and self.bits >= DECISIVE_BITS:
            return "confirmed", " ".join(item.text for item in ranked[:-3:-1] if item.bits > 0)
        return None


def recorded_causes(
    run: Run, script: Script | None, diagnosis: Diagnosis, ids: Iterable[str]
) -> dict[str, RecordedCause]:
    """What a run of the unchanged script shows about causes; `diagnosis` is its own, with every cause."""
    case = Case(run, script)
    case.pool = pool_of(run)
    examination = examine(case)
    run_facts = facts(case, examination.findings, None)
    return {id: _recorded(causes()[id], case, examination, run_facts, diagnosis) for id in dict.fromkeys(ids)}


def _recorded(
    cause: Cause, case: Case, examination: Examination, run_facts: dict[str, str], diagnosis: Diagnosis
) -> RecordedCause:
    listing = next((problem for problem in diagnosis.problems if cause.id in _causes_of(problem)), None)
    # What points at a rival says nothing about this one by itself: the ranking compares them.
    evidence = tuple(evidence_on(cause, observations_of(examination), {}))
    speaks = {item.finding for item in evidence if item.bits > 0}
    supporting = [finding for finding in examination.findings if finding.id in speaks]
    lines = tuple(place for finding in supporting for place in finding.places if place.line is not None)
    script = case.script
    set_at = next((at for name in cause.where if script is not None and (at := anchor(script, name))), None)
    missing = tuple(dict.fromkeys(
        check.needs for check in examination.checks if check.check in cause.evidence and check.needs
    ))  # fmt: skip
    lengths = {source.path: len(source.lines) for source in script.sources} if script is not None else {}
    first = next(iter(acute(diagnosis)), None)
    others_symptom = symptoms()[first.symptom].title.lower() if first is not None and listing is None else ""
    total = sum(item.bits for item in evidence)
    problem = listing or _own_problem(cause, total, run_facts)
    return RecordedCause(
        cause, evidence, lines, set_at, missing, lengths, problem, listing is not None, others_symptom
    )


def _causes_of(problem: Problem) -> set[str]:
    return {hypothesis.cause for hypothesis in problem.hypotheses}


def _own_problem(cause: Cause, bits: float, run_facts: dict[str, str]) -> Problem:
    """The problem that the cause would make: the suspicion against everything else."""
    first, *other_symptoms = sorted(cause.symptoms, key=lambda symptom: PRIORS.index(cause.symptoms[symptom]))
    odds = _ODDS * 2.0 ** (SUSPECTED_BITS + max(-DECISIVE_BITS, min(DECISIVE_BITS, bits)))
    share = odds / (1 + odds)
    filled = fixes((remedies()[name] for name in cause.remedies), run_facts)
    hypothesis = Hypothesis(cause.id, cause.title, share, (), (), filled)
    return Problem(
        first, tuple(other_symptoms), "low", None, f"Suspected: {cause.title}.", (), (hypothesis,), 1 - share
    )
