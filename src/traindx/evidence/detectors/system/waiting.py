"""Time that the step waits."""

import os

import numpy as np

from traindx.core.facts import facts, number, word
from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Finding,
    FloatArray,
    Place,
    Run,
    Skipped,
    stats,
)
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.testing.sketch import noisy, run

_PARTS = ("data_wait_s", "forward_s", "backward_s", "optimizer_s")


@Detector("Waiting for data", family="data_wait")
def data_wait(
    case: Case,
    data_wait_s: Curve,
    step_s: Curve,
    *,
    wait_share: float = 0.3,
    full_strength_at: float = 0.6,
    quantile: float = 0.25,
    min_seconds: float = 0.005,
    min_seconds_with_workers: float = 0.02,
    min_total_seconds: float = 3.0,
    min_points: int = 10,
) -> Detected:
    """Training waits for data.

    The share of the time per step that is spent waiting for the loader. Seen when it is {wait_share} or more
    at three quarters of the logged points at least: the first batch of an epoch always waits and does not
    count. When a wait exceeds its step, waits are taken as not included in the step's time. Waits under
    {min_seconds} seconds a step are worth knowing (low): in toy trainings nearly everything is overhead; so
    are waits for worker processes in a recording of few seconds. On a machine where several processes want
    each core, a wait counts as so many times shorter.

    Silent when the wait is short or shows at some points only.
    """
    steps, waits, seconds = stats.align(data_wait_s.x, data_wait_s.y, step_s.x, step_s.y)
    steps, waits, seconds = steps[1:], waits[1:], seconds[1:]
    fine = (waits >= 0) & (seconds > 0)
    if int(fine.sum()) < min_points:
        return Skipped(f"at least {min_points} values of the time per step and of the wait for data")
    waits, seconds = waits[fine], seconds[fine]
    apart = bool((waits > 1.02 * seconds).any())
    shares = waits / (waits + seconds if apart else seconds)
    if float(np.quantile(shares, quantile)) < wait_share:
        return None
    part = float(np.median(shares))
    whole = float(np.median(waits + seconds if apart else seconds))
    return Finding(
        text=f"{percent(part)} of the time per step is spent waiting for data: "
        f"{text(float(np.median(waits)))} of {text(whole)} s.",
        symptom="slow_training",
        severity="medium"
        if _costs(case, waits, min_seconds, min_seconds_with_workers, min_total_seconds)
        else "low",
        step=float(steps[0]),
        strength=strength(part, wait_share, full_strength_at),
        numbers={"wait_share": round(100 * part)},
    )


def _costs(case: Case, waits: FloatArray, brief: float, with_workers: float, total: float) -> bool:
    """Whether the waits are worth acting on. Workers start anew with each short epoch: that is no habit."""
    usual = float(np.median(waits)) / case.inside.crowding
    if not case.inside.recorded or not case.number("workers"):
        return usual >= brief
    return usual >= with_workers and usual * waits.size >= total


@Detector("Files opened again and again", needs=("fact:files_read",), family="files_reopened")
def files_reopened(
    case: Case,
    data_wait_s: Curve,
    step_s: Curve,
    *,
    min_files: int = 1,
    min_opened: int = 32,
    wait_share: float = 0.3,
) -> Detected:
    """The same data files are opened again and again while the training waits for data.

    Seen when {min_files} or more files were opened {min_opened} times or more each, and {wait_share} or more
    of the time per step is spent waiting for data: what was read is thrown away and read anew, as by a cache
    that is smaller than the number of files, or by a data set that opens its file for each sample. The line
    that opens them is named.

    Silent where hardly anything is waited for: then reading costs nothing.
    """
    read = facts(case.run.facts.get("files_read"))
    if not read or not len(data_wait_s) or not len(step_s):
        return Skipped("the files that were read, and the wait for data")
    often = [file for file in read if (number(file, "opened") or 0.0) >= min_opened]
    share = float(np.median(data_wait_s.y) / max(float(np.median(step_s.y)), 1e-12))
    if len(often) < min_files or share < wait_share:
        return None
    busiest = max(often, key=lambda file: number(file, "opened") or 0.0)
    file, _, line = word(busiest, "line").rpartition(":")
    several = len(often) > 1
    files = f"{len(often)} data files were" if several else f"{os.path.basename(word(busiest, 'path'))} was"
    reader = f" by {os.path.basename(file)}:{line}" if file else ""
    least = min(number(file, "opened") or 0.0 for file in often)
    return Finding(
        f"{files} opened {least:,.0f} times or more{' each' if several else ''}{reader}, and "
        f"{percent(min(share, 1.0))} of the time per step is spent waiting for data: keep what was read.",
        severity="low",
        step=float(data_wait_s.x[0]),
        numbers={"opened": number(busiest, "opened") or 0.0, "files": len(often)},
        places=(Place(file, int(line)),) if file and line.isdigit() else (),
    )


def _run(opened: int, wait: float) -> Run:
    files = [{"path": f"/data/{n}.npz", "line": "/data/load.py:9", "opened": opened} for n in range(8)]
    curves = {"data_wait_s": noisy([wait] * 60, 0.1), "step_s": noisy([0.6] * 60, 0.05)}
    return run(curves, facts={"files_read": files})


@Detector("Other work in the loop", needs=("forward_s", "backward_s"), family="host_work")
def host_work(
    case: Case,
    step_s: Curve,
    *,
    other_share: float = 0.4,
    large_share: float = 0.7,
    min_seconds: float = 0.002,
    long_seconds: float = 0.01,
    quantile: float = 0.25,
    min_points: int = 10,
) -> Detected:
    """Much of each step is spent on other work than training.

    What remains of a step beside waiting for data, forward pass, backward pass and update: logging, saving,
    copying to the host, metrics. Seen when it is {other_share} of the step at nearly every step. Under
    {min_seconds} seconds a step it is not told: in toy trainings everything is overhead. Under
    {long_seconds} seconds it is worth knowing (low) unless it is a {large_share} part of the step.

    Silent about single slow steps (see step_time_outliers) and about validation, which is no part of a step.
    Known mistake: data that is made by hand in the loop counts as other work.
    """
    parts = [curve for name in _PARTS if (curve := case.curve(name)) is not None]
    used = np.zeros(len(step_s))
    for curve in parts:
        # A part that was not told at a step is taken as it is near it.
        used += np.interp(step_s.x, curve.x, curve.y)
    remaining = (step_s.y - used)[1:]
    shares = remaining / np.maximum(step_s.y[1:], 1e-12)
    extra, part = float(np.median(remaining)), float(np.median(shares))
    if float(np.quantile(shares, quantile)) < other_share or extra < min_seconds:
        return None
    whole = float(np.median(step_s.y[1:]))
    return Finding(
        f"{percent(part)} of each step ({text(extra)} of {text(whole)} s) is other work than data, forward, "
        f"backward pass and update: logging, saving, copies to the host.",
        "slow_training",
        "medium" if extra >= long_seconds or part >= large_share else "low",
        float(step_s.x[0]),
        series="step_s",
        strength=strength(part, other_share, large_share),
        numbers={"other_share": round(100 * part)},
    )


def _run_host_work(step: float, elsewhere: float) -> Run:
    part_seconds = (step - elsewhere) / 3
    names = ("forward_s", "backward_s", "optimizer_s")
    parts = {name: noisy([part_seconds] * 60, 0.05, seed=at) for at, name in enumerate(names)}
    return run({"step_s": noisy([step] * 60, 0.05, seed=9), **parts})


def cases() -> Cases:
    yield from data_wait.fires(
        run({"data_wait_s": noisy([0.3] * 60, 0.1), "step_s": noisy([0.6] * 60, 0.05)})
    )
    yield from data_wait.fires(
        run({"data_wait_s": noisy([2.0] * 60, 0.1), "step_s": noisy([0.6] * 60, 0.05)})
    )
    yield from data_wait.silent(
        run({"data_wait_s": noisy([0.02] * 60, 0.1), "step_s": noisy([0.6] * 60, 0.05)})
    )
    first_batches = np.where(np.arange(100) % 2 == 0, 1.6, 0.0)
    yield from data_wait.silent(run({"data_wait_s": first_batches, "step_s": 0.65 + first_batches}))
    yield from data_wait.silent(run({"data_wait_s": [32.0] + [0.004] * 60, "step_s": [0.05] * 61}))
    yield from files_reopened.fires(_run(64, 0.4))
    yield from files_reopened.silent(_run(64, 0.01), _run(8, 0.4))
    yield from host_work.fires(_run_host_work(0.08, 0.06))
    yield from host_work.silent(_run_host_work(0.08, 0.01), _run_host_work(0.002, 0.0015))
