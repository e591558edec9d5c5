"""Cores, what may be used of them, and the threads that numerical libraries would start on them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from traindx.core.number_text import percent
from traindx.doctor import cgroup
from traindx.doctor.line import DoctorLine, State, Surroundings

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
SUBJECT = "processor"


def usable(place: Surroundings) -> float:
    """Cores this process may run on, or the share of them that its control group grants."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cgroup.cores(place)
    return min(float(allowed), quota) if quota else float(allowed)


def lines(place: Surroundings, torch: Mapping[str, Any] | None) -> Iterator[DoctorLine]:
    """`torch` is what the probe found; it may be missing."""
    cores = usable(place)
    yield _cores(place, cores)
    yield _threads(place, cores, torch)
    load = _load(cores)
    if load is not None:
        yield load
    if torch and torch.get("speed"):
        yield _scaling(torch["speed"], torch["threads"], busy=load is not None and load.state == "note")
    waits = cgroup.throttled(place)
    if waits is not None and waits > 0.2:
        yield DoctorLine(
            "cpu_throttled",
            SUBJECT,
            "note",
            f"The control group had to wait for its quota in {percent(waits)} of its scheduling periods.",
            "Ask for more cores, or start fewer threads and loader workers.",
            {"share": waits},
        )


def _cores(place: Surroundings, cores: float) -> DoctorLine:
    there = os.cpu_count() or 1
    quota = cgroup.cores(place)
    limit = " (limited by its control group)" if quota and quota < there else ""
    fact = f"{cores:g} of {there} cores may be used{limit}."
    return DoctorLine("cores", SUBJECT, "ok", fact, numbers={"cores": cores, "all": there})


def _threads(place: Surroundings, cores: float, torch: Mapping[str, Any] | None) -> DoctorLine:
    """What PyTorch really starts decides; a variable alone may be capped by the library that reads it."""
    variables = {name: int(place.environ[name]) for name in _THREADS if place.environ.get(name, "").isdigit()}
    source = ", ".join(f"{name}={value}" for name, value in variables.items()) or "no variable sets it"
    real = int(torch["threads"]) if torch else 0
    threads = max(real, *variables.values(), 0)
    if not threads:
        fact = f"No variable sets the number of threads: libraries start one a core ({cores:g})."
        return DoctorLine("threads", SUBJECT, "ok", fact)
    fact = f"PyTorch computes with {real} thread{'s' * (real > 1)} ({source})." if torch else f"{source}."
    numbers = {"threads": float(real or threads), "cores": cores}
    suggested = max(1, int(cores))
    if threads >= 2 * cores and threads - cores >= 1:
        advice = f"export OMP_NUM_THREADS={suggested}: more threads than cores make every operation wait."
        state: State = "problem" if real >= 2 * cores and real - cores >= 1 else "note"
        return DoctorLine("threads", SUBJECT, state, fact, advice, numbers)
    if threads == 1 and cores >= 4 and not (torch and torch.get("cuda_available")):
        advice = f"One thread of {cores:g} cores: export OMP_NUM_THREADS={suggested} if it trains alone here."
        return DoctorLine("threads", SUBJECT, "note", fact, advice, numbers)
    return DoctorLine("threads", SUBJECT, "ok", fact, numbers=numbers)


def _scaling(speed: Mapping[str, float], threads: int, *, busy: bool) -> DoctorLine:
    """Whether several threads compute faster than one; where they do not, a busy machine explains it."""
    one_core, all_cores = speed["one"], speed["all"]
    fact = f"A product of matrices runs at {one_core:.0f} GFLOP/s with 1 thread"
    fact += f", {all_cores:.0f} with {threads}." if threads > 1 else "."
    numbers = {"gflops_one": one_core, "gflops_all": all_cores}
    if threads > 1 and all_cores < 0.8 * one_core and not busy:
        advice = "More threads are slower here: fewer cores are granted than shown, or others use them."
        return DoctorLine("thread_speed", SUBJECT, "note", fact, advice, numbers)
    return DoctorLine("thread_speed", SUBJECT, "ok", fact, numbers=numbers)


def _load(cores: float) -> DoctorLine | None:
    if not hasattr(os, "getloadavg"):
        return None
    load = os.getloadavg()[0]
    fact = f"{load:.1f} processes wanted a core over the last minute, on {cores:g} cores."
    if load > 1.5 * cores + 0.5:
        advice = "Others are computing here: times and throughput will vary, and every step takes longer."
        return DoctorLine("load", SUBJECT, "note", fact, advice, {"load": load})
    return DoctorLine("load", SUBJECT, "ok", fact, numbers={"load": load})
