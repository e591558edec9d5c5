"""Diagnoses of runs of scripts of which only the text exists."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from traindx.case import Case
from traindx.core import Diagnosis, Run
from traindx.script.source import Script


def examined(run: Run, script: Script | None) -> Diagnosis:
    """The diagnosis of a run of a script of which only the text exists."""
    import numpy as np

    from traindx.examine import examine
    from traindx.knowledge.judge import judge as judged

    case = Case(run, script)
    with np.errstate(all="ignore"):
        return judged(case, examine(case, None))


def rewritten(script: Script | None, sources: Mapping[str, str]) -> Script | None:
    """The script with other texts."""
    if script is None:
        return None
    return Script(
        tuple(
            replace(source, text=sources[source.path], tree=ast.parse(sources[source.path]))
            if source.path in sources
            else source
            for source in script.sources
        )
    )
