"""Trainings in tests: `assert_trains` and `assert_better`, from `traindx.testing`.

Nothing heavy is loaded before one of them is called.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis, Problem, Run
    from traindx.experiment.prove.results import Proved

Path = str | os.PathLike[str]


def assert_trains(
    script: Path,
    *,
    args: Sequence[str] = (),
    steps: int | None = None,
    reaches: Mapping[str, float] | None = None,
    allow: Sequence[str] = (),
    time_budget: float = 120.0,
) -> Diagnosis:
    """Assert that a script trains: it runs, learns, and has no problem worth acting on.

    It runs once in a copy of its folder, to its end or for `steps`. `reaches` are series with the value that
    each must reach at its best (`{"val/accuracy": 0.9, "val/loss": 0.4}`); `allow` are symptoms or causes
    that are no failure here. Raises ValueError where it could not be run.
    """
    __tracebackhide__ = True
    from traindx.experiment.api import diagnose_script_run

    diagnosis, crashed = diagnose_script_run(script, args=args, steps=steps, time_budget=time_budget)
    name = os.path.basename(os.fspath(script))
    if diagnosis is None:
        raise AssertionError(f"{name} does not train: {crashed}")
    problem = _first_problem(diagnosis, allow)
    if problem is not None:
        raise AssertionError(_of_problem(name, problem, diagnosis))
    if diagnosis.verdict == "insufficient_evidence" and not reaches:
        reasons = " ".join(diagnosis.reasons) or "there is too little to judge it by."
        raise AssertionError(f"{name} ran, but whether it trains cannot be said: {reasons}")
    for series, value in (reaches or {}).items():
        missed = _missed(diagnosis.run, series, value)
        if missed:
            raise AssertionError(f"{name} does not get far enough: {missed}")
    return diagnosis


def assert_better(
    script: Path,
    patch: Path | None = None,
    *,
    with_: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    new_args: str | None = None,
    args: Sequence[str] = (),
    metric: str | None = None,
    steps: int | None = None,
    or_equal: bool = False,
    quick: bool = True,
    time_budget: float = 300.0,
) -> Proved:
    """Assert that a change makes a training better, in pairs of runs on the same seeds (`traindx.prove`).

    The change is a `patch` (a unified diff), another version of the script (`with_`), `settings`
    (`{"lr": 1e-3}`) or `new_args`. With `or_equal`, no difference is good enough. Raises ValueError where the
    versions could not be compared.
    """
    __tracebackhide__ = True
    from traindx.experiment.api import prove
    from traindx.report.proof import headline

    proved = prove(
        script,
        args=args,
        fixed=with_,
        patch=patch,
        settings=settings,
        new_args=new_args,
        metric=metric,
        steps=steps,
        quick=quick,
        time_budget=time_budget,
    )
    best = proved.best
    good = ("better", "no difference") if or_equal else ("better",)
    if best.answer not in good:
        name = os.path.basename(os.fspath(script))
        raise AssertionError(f"{name}: {best.answer}, not better. {headline(best)}")
    return proved


def _first_problem(diagnosis: Diagnosis, allow: Sequence[str]) -> Problem | None:
    from traindx.core.nouns import ACTED_ON
    from traindx.knowledge.catalogue import causes, symptoms

    unknown = [name for name in allow if name not in symptoms() and name not in causes()]
    if unknown:
        raise ValueError(f"allow: {unknown[0]!r} is no symptom and no cause; 'traindx list' shows them.")
    for problem in diagnosis.problems:
        first = problem.hypotheses[0].cause if problem.hypotheses else ""
        if problem.severity in ACTED_ON and not {problem.symptom, first} & set(allow):
            return problem
    return None


def _of_problem(name: str, problem: Problem, diagnosis: Diagnosis) -> str:
    """The problem, its cause with the place, and the answer as `traindx run` prints it."""
    from traindx.report.answer import answer_text

    first = problem.hypotheses[0] if problem.hypotheses else None
    cause = ""
    if first is not None:
        at = first.place
        place = f" at {os.path.basename(at.file)}:{at.line}" if at is not None and at.line else ""
        cause = f" Likely cause: {first.title.lower()} ({first.cause}, {first.confidence:.0%}){place}."
    return f"{name} has a problem ({problem.symptom}): {problem.summary}{cause}\n\n{answer_text(diagnosis)}"


def _missed(run: Run, name: str, value: float) -> str:
    """How far a series is from the value to reach; empty where it reaches it."""
    __tracebackhide__ = True
    import numpy as np

    series = run.series.get(name)
    if series is None:
        judged = sorted(series_name for series_name, series in run.series.items() if series.goal != "none")
        raise ValueError(f"reaches: {name} is not logged. There are: {', '.join(judged)}.")
    values = series.values[np.isfinite(series.values)]
    lower = series.goal == "lower"
    best = float(values.min() if lower else values.max()) if values.size else float("nan")
    reached = best <= value if lower else best >= value
    return "" if reached else f"{name} is {best:.4g} at best, {'above' if lower else 'below'} {value:g}"
