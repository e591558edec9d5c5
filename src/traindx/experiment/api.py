"""`traindx.treat`, `confirm`, `prove` and `preflight`: what the commands do, for Python.

What cannot be done raises ValueError with one line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis, Run
    from traindx.experiment.arms import Workshop
    from traindx.experiment.confirm.confirm import Confirmed
    from traindx.experiment.preflight.result import Checklist
    from traindx.experiment.prove.results import Proved
    from traindx.experiment.treat.results import Treated
    from traindx.observe.program import Program
    from traindx.source.script import Script

Path = str | os.PathLike[str]
Progress = Callable[[str, Mapping[str, Any]], None]
"""Called with the name of each event and its facts, while the command runs."""


def treat(
    script: Path,
    *,
    args: Sequence[str] = (),
    steps: int | None = None,
    seeds: int | None = None,
    metric: str | None = None,
    only: str | None = None,
    time_budget: float = 1800.0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Treated:
    """Find the cause of a script's problem, try remedies in paired runs, and prove the best one as an edit.

    The script runs in copies of its folder; nothing of yours is written. `sources` of the result holds the
    text of each file before and after the proven edit.
    """
    from traindx.experiment.measure import NoSuchMetric
    from traindx.experiment.treat.request import TreatRequest
    from traindx.experiment.treat.treatment import Treatment

    program = found_program(script, args)
    request = TreatRequest(steps, seeds, metric, only)
    try:
        with _workshop(program, jobs, time_budget) as shop:
            return Treatment(shop, source_of(program), program.args, request, progress or _quiet).run()
    except NoSuchMetric as error:
        raise ValueError(str(error)) from None


def confirm(
    script: Path,
    *,
    args: Sequence[str] = (),
    run: Run | None = None,
    suspects: Sequence[str] = (),
    suspect_patches: Sequence[Path] = (),
    steps: int | None = None,
    seeds: int = 1,
    time_budget: float = 600.0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Confirmed:
    """Which cause is it? Experiments on a script that distinguish the likely causes of its problem.

    `run` is a log or recording of the script to begin with; without it the script is run first. Each of
    `suspects` (`"lr_too_high"`, `"misaligned_labels@data.py:42"`, words) is tested: `suspicions` of the
    result says whether it is `confirmed`, `refuted` or `not testable`. A patch of `suspect_patches` that
    removes the problem confirms that what it changes was the cause.
    """
    from traindx.experiment.arm_diagnosis import examined
    from traindx.experiment.arms import Arm
    from traindx.experiment.confirm.confirm import Confirmation, ConfirmRequest
    from traindx.experiment.prove.versions import as_patch
    from traindx.knowledge.suspicions import Suspicion, suspected

    suspicions = [suspected(text) for text in suspects]
    for patch in suspect_patches:
        as_patch(os.fspath(patch), os.getcwd())
        suspicions.append(Suspicion(patch=os.fspath(patch)))
    program, first = found_program(script, args), None
    source = source_of(program)
    with _workshop(program, jobs, time_budget) as shop:
        if run is None:
            first = shop.run_one(Arm("as it is, to its end", steps=steps), timeout=0.5 * time_budget)
            run = first.run
            if run is None or not first.steps:
                raise ValueError(f"{program.name} could not be observed: {first.message}")
        diagnosis = examined(run, source, every_cause=True, unchanged=True)
        request = ConfirmRequest(steps, seeds, None, time_budget, suspicions=tuple(suspicions))
        return Confirmation(shop, diagnosis, request, progress or _quiet, source, first).run()


def prove(
    script: Path,
    *,
    args: Sequence[str] = (),
    fixed: Path | None = None,
    patch: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    new_args: str | None = None,
    metric: str | None = None,
    steps: int | None = None,
    quick: bool = False,
    time_budget: float = 1800.0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Proved:
    """Is a change better? Both versions of a script in pairs on the same seeds.

    Each of `fixed` (another version of the script), `patch` (a unified diff), `settings` (`{"lr": 1e-3}`) and
    `new_args` is a candidate; several are a race. `quick` makes 2 or 3 pairs. `answer` of the
    result's `best` is `better`, `worse`, `no difference` or `cannot tell`.
    """
    from traindx.experiment.measure import NoSuchMetric
    from traindx.experiment.prove import versions
    from traindx.experiment.prove.prove import Race
    from traindx.experiment.prove.results import ProveRequest
    from traindx.experiment.prove.sequential import QUICK, USUAL

    program = found_program(script, args)
    source, folder = source_of(program), os.getcwd()
    candidates = [versions.as_file(program.path or program.name, os.fspath(fixed))] if fixed else []
    candidates += [versions.as_patch(os.fspath(patch), folder)] if patch else []
    candidates += [versions.as_arguments(program.args, new_args)] if new_args else []
    for name, value in (settings or {}).items():
        candidates += versions.as_settings(f"{name}={value}", source, program.args)
    if not candidates:
        raise ValueError("prove needs a change: fixed, patch, settings or new_args.")
    request = ProveRequest(metric, steps, QUICK if quick else USUAL)
    try:
        with _workshop(program, jobs, time_budget) as shop:
            baseline = versions.Version("as it is")
            return Race(shop, source, baseline, candidates, request, progress or _quiet).run()
    except NoSuchMetric as error:
        raise ValueError(str(error)) from None


def diagnose_script_run(
    script: Path, *, args: Sequence[str] = (), steps: int | None = None, time_budget: float = 120.0
) -> tuple[Diagnosis | None, str]:
    """A script run once in a copy of its folder: its diagnosis, and how it crashed, if it did."""
    from traindx.experiment.arm_diagnosis import examined
    from traindx.experiment.arms import Arm

    program = found_program(script, args)
    with _workshop(program, 1, time_budget) as shop:
        outcome = shop.run_one(Arm("as it is", steps=steps), timeout=time_budget)
        if outcome.ended == "crashed":
            return None, outcome.message
        if outcome.run is None or not outcome.steps:
            raise ValueError(f"{program.name} could not be observed: {outcome.message}")
        run = replace(outcome.run, name=program.name, path=program.path or program.name)
        return examined(run, source_of(program)), ""


def preflight(
    model: Any,
    loss_fn: Callable[[Any, Any], Any] | None = None,
    loader: Any = None,
    *,
    optimizer: Any = None,
    args: Sequence[str] = (),
    steps: int = 200,
    time_budget: float = 120.0,
) -> Checklist:
    """Check a training before its long run: `preflight(model, loss_fn, loader)`, or `preflight("train.py")`.

    A batch is a pair of inputs and target, or a longer tuple whose last part is the target; the loss is
    `loss_fn(model(inputs), target)`. Copies of the model (and of the optimizer, if one is given) are trained
    for a few hundred steps each; yours, and the streams of random numbers, stay as they are. A script runs in
    copies of its folder with `args`, as `traindx preflight` does. The result is true when nothing failed.
    """
    if not isinstance(model, str | os.PathLike):
        from traindx.experiment.preflight import in_process

        if loss_fn is None or loader is None:
            raise ValueError("preflight needs model, loss_fn and loader, or the path of a script.")
        return in_process.preflight(
            model, loss_fn, loader, optimizer=optimizer, steps=steps, time_budget=time_budget
        )
    from traindx.experiment.orders import threads
    from traindx.experiment.preflight.preflight import Unflown, fly

    program = found_program(model, args)
    try:
        with _workshop(program, None, time_budget) as shop:
            thread_count = int(threads(shop.jobs)["OMP_NUM_THREADS"])
            return fly(
                shop, script=source_of(program), steps=steps, time_budget=time_budget, threads=thread_count
            )
    except Unflown as error:
        raise ValueError(str(error)) from None


def found_program(script: Path, args: Sequence[str]) -> Program:
    """A script with its arguments; raises ValueError where there is none."""
    from traindx.observe.program import NoProgram, find_script

    try:
        return find_script(os.fspath(script), tuple(args))
    except NoProgram as error:
        raise ValueError(str(error)) from None


def source_of(program: Program) -> Script | None:
    """The parsed source, where there is one that can be parsed."""
    from traindx.core.nouns import Unreadable
    from traindx.source import read_script

    if program.path is None or not os.path.isfile(program.path):
        return None
    try:
        return read_script(program.path)
    except Unreadable:
        return None


def _workshop(program: Program, jobs: int | None, time_budget: float) -> Workshop:
    from traindx.experiment.arms import Workshop

    return Workshop(program, jobs=jobs, time_budget=time_budget)


def _quiet(event: str, facts: Mapping[str, Any]) -> None:
    del event, facts
