"""`traindx.ask`: the diagnosis of a training by what somebody knows of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from traindx.core.nouns import Run

if TYPE_CHECKING:
    from traindx.evidence.case import Case
    from traindx.interview.session import Interview


def ask(
    what: Run | str | os.PathLike[str] | None = None,
    *,
    complaint: str | Sequence[str] = (),
    answers: Mapping[str, object] | None = None,
    script: str | os.PathLike[str] | None = None,
) -> Interview:
    """An interview: `next` is the most useful question now, `answer(question, value)` takes an answer, and
    `diagnosis()` is the diagnosis so far.

    `what` is a run, a log or a recording, `script` the training script: then only what they leave open is
    asked. `complaint` is what is wrong, as ids of symptoms or in words ("the loss is NaN after 200 steps").
    Raises ValueError with one line for an unknown question or an answer that does not fit it.
    """
    from traindx.engine import case_of, only_run, script_case
    from traindx.interview.answers import NotUnderstood
    from traindx.interview.session import Interview

    if what is not None:
        base: Case | None = case_of(what if isinstance(what, Run) else only_run(what), script)
    else:
        base = None if script is None else script_case(script)
    interview = Interview(base)
    question = "complaint"
    try:
        for text in [complaint] if isinstance(complaint, str) else complaint:
            interview.report(text)
        for question, value in (answers or {}).items():
            interview.answer(question, value)
    except KeyError:
        raise ValueError(f"there is no question {question!r}; interview.next names one.") from None
    except NotUnderstood as error:
        raise ValueError(f"{question}: {error}") from None
    return interview
