"""The diagnosis of a run inside a trial: with every cause, or only what it suffers from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from traindx.case import Case
from traindx.core import Diagnosis, Run
from traindx.examine import examine
from traindx.knowledge.judge import judge

if TYPE_CHECKING:
    from traindx.script.source import Script


def diagnosed(run: Run, script: Script | None) -> Diagnosis:
    """The diagnosis of a run with every cause in it, also the unlikely ones."""
    case = Case(run, script)
    with np.errstate(all="ignore"):
        return judge(case, examine(case, None), every_cause=True)


def symptoms_of_run(run: Run) -> set[str]:
    """Every symptom of a run, grave or not."""
    found = diagnosed(run, None).problems
    return {symptom for problem in found for symptom in (problem.symptom, *problem.also)}
