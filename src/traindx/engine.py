"""The line: path -> read -> Run -> case -> findings -> Diagnosis. Every surface goes through it.

Thresholds: those a caller gives, else those chosen for this process (`--set`), else those of the project's
settings file.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

from traindx.core.nouns import Diagnosis, Note, Reading, Run

if TYPE_CHECKING:
    from traindx.core.settings import Thresholds
    from traindx.evidence.case import Case
    from traindx.evidence.examine import Examination
    from traindx.evidence.lint import Linted

_chosen: ContextVar[Thresholds | None] = ContextVar("thresholds", default=None)


def read(*paths: str | os.PathLike[str], mapping: Mapping[str, str] | None = None) -> Reading:
    """Every training run in the given files and folders; '-' is standard input."""
    from traindx.logs.find import find_runs

    return find_runs([os.fspath(path) for path in paths], mapping=mapping)


def diagnose(
    what: Run | str | os.PathLike[str] | None = None,
    *,
    thresholds: Thresholds | None = None,
    script: str | os.PathLike[str] | None = None,
) -> Diagnosis:
    """What is wrong with a run (or with the only run of a file or folder), how surely, and what to do.

    Of a script that trains several times, the worst training: its `run.phase` says which it is.
    Without a run: with what this process has recorded, by `traindx.watch` or under `traindx run`.
    `script` adds the source; a recording knows its own. Without `thresholds` those of the project's settings
    file count.
    """
    from traindx.evidence.phase import worst_first

    if what is None:
        what = last_run(recording_here())
    runs = (what,) if isinstance(what, Run) else runs_of_one(what)
    return worst_first(diagnose_case(case_of(run, script), thresholds) for run in runs)[0]


def diagnose_script(path: str | os.PathLike[str]) -> Diagnosis:
    """The diagnosis of a script that nobody ran: what its source alone shows."""
    return diagnose_case(script_case(path))


def diagnose_case(
    case: Case, thresholds: Thresholds | None = None, *, every_cause: bool = False
) -> Diagnosis:
    """The line from a case on; with `every_cause` the unlikely ones are listed too."""
    return conclude(case, examine(case, thresholds), every_cause=every_cause)


def examine(case: Case, thresholds: Thresholds | None = None) -> Examination:
    """What every detector found, did not find, and could not check."""
    from traindx.evidence.examine import examine

    examination = examine(case, _in_force(thresholds))
    if not case.pool:
        return examination
    from traindx.knowledge.pooled import with_pool

    return with_pool(examination, case.pool)


def conclude(case: Case, examination: Examination, *, every_cause: bool = False) -> Diagnosis:
    """Problems with ranked causes, and the verdict."""
    import numpy as np

    from traindx.knowledge.judge import judge

    with np.errstate(all="ignore"):  # logs hold numbers near the ends of the range
        diagnosis = judge(case, examination, every_cause=every_cause)
    trials = [trial for entry in case.pool for trial in entry.trials]
    if not trials:
        return diagnosis
    from traindx.knowledge.advice import advised

    return advised(diagnosis, trials)


def lint(path: str | os.PathLike[str], *, thresholds: Thresholds | None = None) -> Linted:
    """What the source of a script shows by itself, and what could not be checked in it.

    Raises `traindx.core.nouns.Unreadable` with one line when the file is no Python source.
    """
    from traindx.evidence.lint import lint

    return lint(path, _in_force(thresholds))


def script_case(path: str | os.PathLike[str]) -> Case:
    """A training of which nothing but its script is known."""
    from traindx.evidence.case import Case
    from traindx.evidence.lint import script_run
    from traindx.source import read_script

    return Case(script_run(os.fspath(path)), read_script(path))


def case_of(run: Run, script: str | os.PathLike[str] | None = None) -> Case:
    """A run with the script that is given, else with the one it was recorded of, if that is unchanged.

    With it comes what other commands found out about that script.
    """
    from traindx.core.pool import pool_of
    from traindx.evidence.case import Case
    from traindx.source.script import read_script, script_of

    source, why = (read_script(script), "") if script is not None else script_of(run)
    if why:
        run = replace(run, notes=(*run.notes, Note(run.path, why)))
    case = Case(run, source)
    case.pool = pool_of(run)
    return case


@contextmanager
def using_thresholds(thresholds: Thresholds) -> Iterator[None]:
    """Let these thresholds count wherever a caller gives none."""
    token = _chosen.set(checked_thresholds(thresholds))
    try:
        yield
    finally:
        _chosen.reset(token)


def thresholds_in_force() -> Thresholds:
    """Those chosen for this process, else those of the settings file."""
    chosen = _chosen.get()
    return chosen if chosen is not None else project_thresholds()


def project_thresholds() -> Thresholds:
    """What the settings file of the working folder says; raises BadSettings in one line."""
    from traindx.core.settings import BadSettings, load

    settings = load()
    try:
        return checked_thresholds(settings.thresholds)
    except ValueError as error:
        raise BadSettings(f"{settings.path}: thresholds: {error}") from None


def checked_thresholds(thresholds: Thresholds) -> Thresholds:
    """The thresholds under their names of today, with a warning for each old one; raises ValueError in one
    line when one fits no detector.
    """
    if not thresholds:
        return thresholds
    from inspect import signature

    from traindx.core.settings import check_thresholds
    from traindx.core.threshold_names import current
    from traindx.core.units import detectors

    signatures = {unit.id: signature(unit.detect) for unit in detectors()}
    found, renamed = current(thresholds, {id: one.parameters for id, one in signatures.items()})
    for line in renamed:
        warnings.warn(line, FutureWarning, stacklevel=4)
    wrong = check_thresholds(found, signatures)
    if wrong:
        more = f" (and {len(wrong) - 1} more like it)" if len(wrong) > 1 else ""
        raise ValueError(f"{wrong[0]}{more}")
    return found


def _in_force(given: Thresholds | None) -> Thresholds:
    return checked_thresholds(given) if given is not None else thresholds_in_force()


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
    runs = runs_of_one(path)
    if len(runs) > 1:
        raise ValueError(
            f"{os.fspath(path)} holds {len(runs)} trainings: diagnose each of traindx.read(path).runs."
        )
    return runs[0]


def runs_of_one(path: str | os.PathLike[str]) -> tuple[Run, ...]:
    """The run of a path that holds one script's: several where that trained several times."""
    from traindx.evidence.phase import of_one_script

    path = os.fspath(path)
    reading = read(path)
    if len(reading.runs) == 1 or of_one_script(reading.runs):
        return reading.runs
    if reading.runs:
        raise ValueError(f"{path} holds {len(reading.runs)} runs: diagnose each of traindx.read(path).runs.")
    why = f": {reading.skipped[0].text}" if reading.skipped else ""
    raise ValueError(f"no training run was found in {path}{why}")
