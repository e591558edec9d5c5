"""The line: path -> read -> Run -> detect -> Findings -> infer -> Diagnosis."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from traindx.core.nouns import Diagnosis, Note, Reading, Run
from traindx.core.settings import Threshold
from traindx.evidence.case import Case


def read(*paths: str | os.PathLike[str], mapping: Mapping[str, str] | None = None) -> Reading:
    """Every training run in the given files and folders; '-' is standard input."""
    from traindx.logs.find import find_runs

    return find_runs([os.fspath(path) for path in paths], mapping=mapping)


def diagnose(
    what: Run | str | os.PathLike[str] | None = None,
    *,
    thresholds: Mapping[str, Mapping[str, Threshold]] | None = None,
    script: str | os.PathLike[str] | None = None,
) -> Diagnosis:
    """What is wrong with a run (or with the only run of a file or folder), how surely, and what to do.

    Without a run: with what this process has recorded, by `traindx.watch` or under `traindx run`.
    `script` adds the source; a recording knows its own.
    """
    from traindx.evidence.examine import examine
    from traindx.knowledge.judge import judge

    if thresholds:
        thresholds, renamed, wrong = named_today(thresholds)
        for line in renamed:
            warnings.warn(line, FutureWarning, stacklevel=2)
        if wrong:
            raise ValueError("; ".join(wrong))
    if what is None:
        what = last_run(recording_here())
    case = case_of(what if isinstance(what, Run) else only_run(what), script)
    with np.errstate(all="ignore"):  # logs hold numbers near the ends of the range
        return judge(case, examine(case, thresholds))


def diagnose_script(path: str | os.PathLike[str]) -> Diagnosis:
    """The diagnosis of a script that nobody ran: what its source alone shows."""
    from traindx.evidence.lint import script_run

    return diagnose(script_run(os.fspath(path)), script=path)


def case_of(run: Run, script: str | os.PathLike[str] | None = None) -> Case:
    """A run with the script that is given, else with the one it was recorded of, if that is unchanged."""
    from traindx.source.script import read_script, script_of

    if script is not None:
        return Case(run, read_script(script))
    source, why = script_of(run)
    if why:
        run = replace(run, notes=(*run.notes, Note(run.path, why)))
    return Case(run, source)


def named_today(
    thresholds: Mapping[str, Mapping[str, Threshold]],
) -> tuple[dict[str, dict[str, Threshold]], list[str], list[str]]:
    """Thresholds under the names of today, a line for each old name that was given, and what is wrong."""
    from inspect import signature

    from traindx.core.settings import check_thresholds
    from traindx.core.threshold_names import current
    from traindx.core.units import detectors

    signatures = {unit.id: signature(unit.detect) for unit in detectors()}
    found, renamed = current(thresholds, {id: one.parameters for id, one in signatures.items()})
    return found, renamed, check_thresholds(found, signatures)


def recording_here() -> os.PathLike[str]:
    """What this process records, or has recorded last."""
    from traindx.observe.watch import latest

    found = latest()
    if found is None:
        raise ValueError(
            "nothing was recorded in this process: call traindx.watch() before the training, or give a path."
        )
    return found


def last_run(path: str | os.PathLike[str]) -> Run:
    """The training that a recording tells last: a process may train one after another."""
    runs = read(path).runs
    return runs[-1] if len(runs) > 1 else only_run(path)


def only_run(path: str | os.PathLike[str]) -> Run:
    """The run of a path that holds exactly one."""
    path = os.fspath(path)
    reading = read(path)
    if len(reading.runs) == 1:
        return reading.runs[0]
    if reading.runs:
        raise ValueError(f"{path} holds {len(reading.runs)} runs: diagnose each of traindx.read(path).runs.")
    why = f": {reading.skipped[0].text}" if reading.skipped else ""
    raise ValueError(f"no training run was found in {path}{why}")
