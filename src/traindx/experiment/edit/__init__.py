"""A proven remedy as a small edit of the user's own files; an instruction where no edit is certain."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from traindx.core.nouns import Diagnosis, Hypothesis, Place, Run, Scalar
from traindx.experiment.edit.draft import encoded as encoded
from traindx.experiment.edit.draft import text_now as text_now
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.result import Edited as Edited
from traindx.experiment.edit.result import Instruction as Instruction
from traindx.experiment.edit.result import Uncertain
from traindx.source.script import Script


class ChangeLike(Protocol):
    """A change with its values, as `traindx.experiment.runtime.change.Change`."""

    @property
    def id(self) -> str: ...
    @property
    def values(self) -> Mapping[str, Scalar]: ...


def edit_for(
    script: Script, change: ChangeLike, *, run: Run | None = None, args: Sequence[str] = ()
) -> Edited | Instruction:
    """A change as source: the edit that does to the script what it does to the running training."""
    return edit_for_all(script, [change], run=run, args=args)


def edit_for_all(
    script: Script,
    changes: Sequence[ChangeLike],
    *,
    run: Run | None = None,
    args: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
) -> Edited | Instruction:
    """Several changes as one edit; an instruction as soon as one has none, or two meet on a line.

    `texts` are files that an earlier edit has changed.
    """
    from traindx.experiment.edit.changes import edits_by_change

    edits = edits_by_change()
    for change in changes:
        if change.id not in edits:
            return Instruction(_no_edit(change))
    try:
        job = Job(script, run, tuple(args), texts=texts or {})
        descriptions = [_write(edits[change.id], job=job, values=change.values) for change in changes]
        return job.draft.edited(" ".join(descriptions))
    except Uncertain as error:
        return error.instruction(script)
    except (LookupError, RecursionError) as error:
        return Instruction(f"The place of this change was not found in the script ({type(error).__name__}).")


def _write(edit: Callable[..., str], **inputs: object) -> str:
    """Write an edit, handing in the inputs that its signature names; its description."""
    return edit(**{name: inputs[name] for name in inspect.signature(edit).parameters})


def _no_edit(change: ChangeLike) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in change.values.items())
    value_text = f" ({values})" if values else ""
    return f"No edit does what {change.id} does{value_text}: it is a measurement, not a remedy."


def edit_for_remedy(
    script: Script,
    remedy: str,
    hypothesis: Hypothesis | None,
    diagnosis: Diagnosis | None,
) -> list[Edited | Instruction]:
    """The edits that fix a defect of the code by a remedy, the most certain first; else one instruction."""
    from traindx.experiment.edit.defects import edits_by_remedy

    place = hypothesis.place if hypothesis is not None else None
    run = diagnosis.run if diagnosis is not None else None
    edited: list[Edited | Instruction] = []
    instructions: list[Edited | Instruction] = []
    for edit in edits_by_remedy().get(remedy, ()):
        try:
            job = Job(script, run, cause=hypothesis.cause if hypothesis is not None else "")
            edited.append(job.draft.edited(_write(edit, job=job, place=place, values={})))
        except Uncertain as error:
            instructions.append(error.instruction(script))
        except (LookupError, RecursionError):
            continue
    return edited or instructions[:1] or [Instruction(_summary(remedy, hypothesis), place)]


def _summary(remedy: str, hypothesis: Hypothesis | None) -> str:
    """What the remedy says to do with this run's numbers."""
    for fix in hypothesis.fixes if hypothesis is not None else ():
        if fix.remedy == remedy:
            return fix.summary
    return f"See `traindx explain {remedy}`."


__all__ = [
    "ChangeLike",
    "Edited",
    "Instruction",
    "Place",
    "edit_for",
    "edit_for_all",
    "edit_for_remedy",
    "encoded",
]
