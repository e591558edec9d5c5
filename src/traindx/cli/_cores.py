"""Many runs diagnosed over the processor's cores, with a bar for whoever waits at a terminal."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from traindx.cli import quiet

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

    from traindx.core.nouns import Diagnosis, Run
    from traindx.core.settings import Thresholds

_MANY = 20
_MASKS = hasattr(signal, "pthread_sigmask")
# What a run takes on a usual core: measured, to tell whether starting processes (half a second) pays.
_SECONDS_PER_RUN, _SECONDS_PER_POINT, _SECONDS_TO_START = 0.01, 3e-6, 0.5


def diagnose_runs(runs: Sequence[Run], jobs: int | None, script: str | None = None) -> list[Diagnosis]:
    """The diagnoses in the order of the runs; over the cores where that is sooner, or as asked."""
    from traindx.engine import thresholds_in_force

    cores = min(jobs or (_usable() if _long(runs) else 1), len(runs))
    with _bar(len(runs)) as advance:
        diagnose_each = _here if cores < 2 else partial(_apart, cores=cores)
        diagnoses = []
        for diagnosis in diagnose_each(runs, thresholds_in_force(), script):
            diagnoses.append(diagnosis)
            advance()
    return diagnoses


def _usable() -> int:
    from traindx.experiment.orders import cores

    return cores()


def _long(runs: Sequence[Run]) -> bool:
    points = sum(run.points for run in runs)
    work = _SECONDS_PER_RUN * len(runs) + _SECONDS_PER_POINT * points
    return len(runs) > _MANY and work > 2 * _SECONDS_TO_START


def _here(runs: Sequence[Run], thresholds: Thresholds, script: str | None) -> Iterator[Diagnosis]:
    from traindx.engine import diagnose

    diagnose_each = diagnose if len(runs) == 1 else _or_failure
    for run in runs:
        yield diagnose_each(run, thresholds=thresholds, script=script)


def _or_failure(run: Run, thresholds: Thresholds, script: str | None) -> Diagnosis:
    """The diagnosis; a run that traindx itself fails on is told as such and does not stop the others."""
    from traindx.core.nouns import Diagnosis
    from traindx.engine import diagnose

    try:
        return diagnose(run, thresholds=thresholds, script=script)
    except MemoryError:
        reason = "there was not enough memory to diagnose it: diagnose it alone, or with fewer --jobs"
    except Exception as error:
        if os.environ.get("TRAINDX_DEBUG"):
            raise
        reason = f"traindx itself failed on this run ({type(error).__name__}: {error}). Please report it."
    return Diagnosis(run, "insufficient_evidence", (), (), reasons=(reason,))


def _apart(
    runs: Sequence[Run], thresholds: Thresholds, script: str | None, *, cores: int
) -> Iterator[Diagnosis]:
    """In other processes; the runs themselves stay here, only what was said of them comes back."""
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(cores, mp_context=_context(), initializer=_ignore_interrupts)
    try:
        bare = [_plain(run) for run in runs]
        size = max(1, min(16, len(runs) // (4 * cores)))
        with _interrupts_held():
            diagnoses = pool.map(
                partial(_diagnosis_without_run, thresholds=thresholds, script=script), bare, chunksize=size
            )
        for run, diagnosis in zip(runs, diagnoses, strict=True):
            yield replace(diagnosis, run=run)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _plain(run: Run) -> Run:
    """A run that can be sent to another process: its tables as dictionaries."""
    return replace(
        run,
        series=dict(run.series),
        config=dict(run.config),
        settings=dict(run.settings),
        facts=dict(run.facts),
    )


def _diagnosis_without_run(run: Run, thresholds: Thresholds, script: str | None) -> Diagnosis:
    bare = replace(run, series={}, config={}, settings={}, facts={})
    return replace(_or_failure(run, thresholds, script), run=bare)


def _context() -> BaseContext:
    """A server that forks after the imports, where there is one: quick, and safe beside threads."""
    import multiprocessing

    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["traindx.cli._cores", "traindx.knowledge.judge"])
    return context


def _ignore_interrupts() -> None:
    """For processes whose signals cannot be held: the one that started them ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the processes have started, and never reaches them: this one ends them.

    Blocked signals stay blocked in processes started meanwhile. Here another thread (of a numerical
    library) may still take the signal, so it is only noted until all is done.
    """
    interrupts: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if _MASKS else None
    try:
        yield
    finally:
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, handler)
    if interrupts:
        raise KeyboardInterrupt


@contextlib.contextmanager
def _bar(total: int) -> Iterator[Callable[[], None]]:
    """A bar on a terminal's standard error while many runs are looked at; nothing elsewhere."""
    if total <= _MANY or quiet() or sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("diagnosing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)
        yield lambda: progress.advance(task)
