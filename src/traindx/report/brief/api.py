"""`traindx.brief`: what was measured of a training, one line for each fact."""

from __future__ import annotations

import os

from traindx.core.nouns import Diagnosis, Run
from traindx.report.brief.facts import TOKENS, Brief


def brief(
    what: Run | Diagnosis | str | os.PathLike[str],
    *,
    tokens: int = TOKENS,
    script: str | os.PathLike[str] | None = None,
) -> Brief:
    """One page of measured facts about a run, a recording, a log or a folder of runs, for a context window.

    `str()` of it is the page of at most `tokens` tokens; `facts` are all of them. A diagnosis is not made
    again. Raises ValueError with one line where no run is found.
    """
    from traindx.engine import diagnose, read
    from traindx.report.brief.build import brief_of

    if isinstance(what, Diagnosis):
        return brief_of([what], what.run.path, tokens)
    if isinstance(what, Run):
        return brief_of([diagnose(what, script=script)], what.path, tokens)
    path = os.fspath(what)
    reading = read(path)
    if not reading.runs:
        why = f": {reading.skipped[0].text}" if reading.skipped else ""
        raise ValueError(f"no training run was found in {path}{why}")
    return brief_of([diagnose(run, script=script) for run in reading.runs], path, tokens)
