"""What other commands found out about the same unchanged script joins an examination, with its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from traindx.core.nouns import AnswerEvidence, Check, Finding
from traindx.core.pool import PooledFinding, PoolEntry
from traindx.core.units import detectors
from traindx.evidence.examine import Examination
from traindx.knowledge.catalogue import causes, symptoms

# A failed check speaks for its cause as clearly as a strong finding.
_CHECK_BITS = 3.5


def with_pool(examination: Examination, entries: Sequence[PoolEntry]) -> Examination:
    """The examination with what was found elsewhere and not here: a proof outweighs "not found"."""
    here = {finding.id for finding in examination.findings}
    families = {unit.id: unit.family for unit in detectors()}
    findings: dict[str, Finding] = {}
    answers: dict[str, AnswerEvidence] = {}
    for entry in entries:
        for item in entry.findings:
            if item.symptom in symptoms() and item.id not in here:
                findings[item.id] = _finding(item, entry, families.get(item.id, item.id))
                if item.cause in causes() and item.id not in families:
                    text = findings[item.id].text
                    answers[item.id] = AnswerEvidence(item.id, item.id, text, {item.cause: _CHECK_BITS})
        for experiment in entry.experiments:
            bits = {cause: value for cause, value in experiment.bits.items() if cause in causes()}
            text = f"{experiment.text.rstrip('.')} ({entry.source})."
            answers[experiment.id] = AnswerEvidence(experiment.id, experiment.id, text, bits)
    if not findings and not answers:
        return examination
    checks = [check for check in examination.checks if check.check not in findings]
    checks += [Check(id, "ran", seen=True) for id in findings if id in families]
    return replace(
        examination,
        findings=(*examination.findings, *findings.values()),
        unseen=examination.unseen - findings.keys(),
        checks=tuple(checks),
        missing={id: need for id, need in examination.missing.items() if id not in findings},
        answers=(*examination.answers, *answers.values()),
    )


def _finding(item: PooledFinding, entry: PoolEntry, family: str) -> Finding:
    text = f"{item.text.rstrip('.')} ({entry.source})."
    return Finding(text, item.symptom, item.severity, numbers=item.numbers, id=item.id, family=family)
