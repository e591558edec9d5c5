"""Edits that detectors of the script propose, taken into a draft."""

from __future__ import annotations

from traindx.core.nouns import Finding, Skipped
from traindx.core.units import detector
from traindx.evidence.case import Case
from traindx.evidence.inputs import places
from traindx.evidence.lint import script_run
from traindx.experiment.edit.job import Job


def findings(job: Job, *detectors: str) -> list[Finding]:
    """What detectors find in the script, every place of it."""
    run = job.run if job.run is not None else script_run(job.script.main.path)
    case = Case(run, job.script)
    all_findings: list[Finding] = []
    for name in detectors:
        result = places(detector(name), case)
        if not isinstance(result, Skipped):
            all_findings += result
    return all_findings


def take_edits(job: Job, *detectors: str) -> list[str]:
    """Put the edits of detectors into the draft; the texts of the findings that had some."""
    fixable = [finding for finding in findings(job, *detectors) if finding.edits]
    for finding in fixable:
        _take(job, finding)
    return [finding.text for finding in fixable]


def _take(job: Job, finding: Finding) -> None:
    for edit in finding.edits:
        source = next(source for source in job.script.sources if source.path == edit.file)
        start, end = job.draft.line_span(source, edit.first, edit.last)
        new = "".join(f"{line}\n" for line in edit.new)
        glued = start == len(source.text) and not source.text.endswith(("\n", "\r"))
        job.draft.splice(source, (start, end), "\n" + new if glued else new)
