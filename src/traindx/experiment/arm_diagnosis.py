"""The diagnosis of a run inside a trial, whose script may exist as text only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from traindx.core.nouns import ACTED_ON, Diagnosis, Problem, Run
from traindx.core.pool import PooledTrial, new_entry, pool_of
from traindx.engine import diagnose_case
from traindx.evidence.case import Case
from traindx.knowledge.advice import against_undoing
from traindx.source.script import Script, parse


def examined(
    run: Run,
    script: Script | None,
    *,
    every_cause: bool = False,
    unchanged: bool = False,
    proven: PooledTrial | None = None,
) -> Diagnosis:
    """The diagnosis of a run; with `every_cause` also the unlikely ones are listed.

    `unchanged` says that it is of the script as it is: then what other commands found out about it counts,
    but not their experiments. `proven` is the trial whose change the script holds now.
    """
    case = Case(run, script)
    if unchanged:
        case.pool = tuple(replace(entry, experiments=()) for entry in pool_of(run))
    elif proven is not None and (speaks := against_undoing(proven)) is not None:
        entry = new_entry(script.main.path if script is not None else run.path, (), "treat")
        case.pool = (replace(entry, experiments=(speaks,)),)
    return diagnose_case(case, every_cause=every_cause)


def acute(diagnosis: Diagnosis | None) -> list[Problem]:
    """The problems worth acting on."""
    return (
        [problem for problem in diagnosis.problems if problem.severity in ACTED_ON]
        if diagnosis is not None
        else []
    )


def symptoms_of_run(run: Run) -> set[str]:
    """Every symptom of a run, grave or not."""
    problems = examined(run, None, every_cause=True).problems
    return {symptom for problem in problems for symptom in (problem.symptom, *problem.also)}


def rewritten(script: Script | None, sources: Mapping[str, str]) -> Script | None:
    """The script with other texts."""
    if script is None:
        return None
    return Script(
        tuple(
            replace(source, text=sources[source.path], tree=parse(sources[source.path]))
            if source.path in sources
            else source
            for source in script.sources
        )
    )
