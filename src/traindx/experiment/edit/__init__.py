"""A proven remedy as a small edit of the user's own files; words with the line where no edit is certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """An intervention with its values, as `traindx.experiment.runtime.change.Change` is one."""

    @property
    def id(self) -> str: ...
    @property
    def values(self) -> Mapping[str, Scalar]: ...


def edit_for(
    script: Script, change: ChangeLike, *, run: Run | None = None, args: Sequence[str] = ()
) -> Edited | Instruction:
    """An intervention as source: the edit that does to the script what it does to the running training."""
    return edit_for_all(script, [change], run=run, args=args)


def edit_for_all(
    script: Script,
    changes: Sequence[ChangeLike],
    *,
    run: Run | None = None,
    args: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
) -> Edited | Instruction:
    """Several interventions as one edit; words as soon as one of them has none, or two meet on a line.

    `texts` are files that an edit before this one has changed.
    """
    from traindx.experiment.edit.changes import makers

    known = makers()
    for change in changes:
        if change.id not in known:
            return Instruction(_no_edit(change))
    try:
        job = Job(script, run, tuple(args), texts=texts or {})
        told = [known[change.id](job, change.values) for change in changes]
        return job.draft.edited(" ".join(told))
    except Uncertain as why:
        return why.instruction()
    except (LookupError, RecursionError) as error:
        return Instruction(
            f"The script cannot be followed to the place of this change ({type(error).__name__})."
        )


def _no_edit(change: ChangeLike) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in change.values.items())
    shown = f" ({values})" if values else ""
    return f"No edit does what {change.id} does{shown}: it is a measurement, not a remedy."


def edit_for_remedy(
    script: Script,
    remedy: str,
    hypothesis: Hypothesis | None,
    diagnosis: Diagnosis | None,
    *,
    args: Sequence[str] = (),
) -> list[Edited | Instruction]:
    """What mends a defect of the code by a remedy: edits, the most certain first; else one instruction."""
    from traindx.experiment.edit.defects import menders

    place = hypothesis.place if hypothesis is not None else None
    run = diagnosis.run if diagnosis is not None else None
    found: list[Edited | Instruction] = []
    words: list[Instruction] = []
    for mend in menders().get(remedy, ()):
        try:
            job = Job(script, run, tuple(args), hypothesis.cause if hypothesis is not None else "")
            found.append(job.draft.edited(mend(job, place)))
        except Uncertain as why:
            words.append(why.instruction())
        except (LookupError, RecursionError):
            continue
    if found:
        return found
    return [*words[:1]] or [Instruction(_summary(remedy, hypothesis), place)]


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
