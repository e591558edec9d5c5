"""What the detectors of the script itself would mend: their edits, taken over."""

from __future__ import annotations

from collections.abc import Iterable

from traindx.core.nouns import Edit, Finding, Skipped
from traindx.core.units import detector
from traindx.evidence.case import Case
from traindx.evidence.inputs import places
from traindx.evidence.lint import script_run
from traindx.experiment.edit.draft import Draft
from traindx.experiment.edit.job import Job


def findings(job: Job, *detectors: str) -> list[Finding]:
    """What detectors see in the script, every place of it."""
    run = job.run if job.run is not None else script_run(job.script.main.path)
    case = Case(run, job.script)
    seen = [places(detector(name), case) for name in detectors]
    return [one for found in seen if not isinstance(found, Skipped) for one in found]


def take(draft: Draft, edits: Iterable[Edit]) -> None:
    """The lines of edits, put into a draft."""
    for edit in edits:
        source = next(one for one in draft.script.sources if one.path == edit.file)
        start, end = draft.line_span(source, edit.first, edit.last)
        new = "".join(f"{line}\n" for line in edit.new)
        glued = start == len(source.text) and not source.text.endswith(("\n", "\r"))
        draft.splice(source, (start, end), "\n" + new if glued else new)
