"""Main memory, shared memory, and how many files may be open."""

from __future__ import annotations

import os
from collections.abc import Iterator

from traindx.doctor import cgroup
from traindx.doctor.line import DoctorLine, Surroundings, size

SUBJECT = "memory"
_LITTLE, _SCARCE = 2 * 2**30, 2**29
_SHARED_LITTLE = 256 * 2**20
_FILES_FEW = 512


def lines(place: Surroundings, workers: int | None) -> Iterator[DoctorLine]:
    """`workers` is what the script's loaders start, as far as that is known."""
    main = _main(place)
    if main is not None:
        yield main
    killed = cgroup.killed(place)
    if killed:
        fact = f"The kernel has ended {killed} processes of this control group because memory ran out."
        advice = "Smaller batches or fewer loader workers, or a larger limit."
        yield DoctorLine("oom_kills", SUBJECT, "note", fact, advice, {"killed": killed})
    shared = _shared(place, workers)
    if shared is not None:
        yield shared
    files = _open_files()
    if files is not None:
        yield files


def _main(place: Surroundings) -> DoctorLine | None:
    counts = {}
    for line in place.read("proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        if rest.split() and rest.split()[0].isdigit():
            counts[name] = 1024 * int(rest.split()[0])
    if "MemTotal" not in counts:
        return None
    total, free = counts["MemTotal"], counts.get("MemAvailable", counts.get("MemFree", 0))
    limit, used = cgroup.memory(place), cgroup.memory_in_use(place)
    words = ""
    if limit is not None and limit < total:
        total, words = limit, " (the limit of its control group)"
        free = min(free, max(0, limit - (used or 0)))
    fact = f"{size(free)} of {size(total)} are free{words}."
    numbers = {"free": float(free), "total": float(total)}
    if free < _SCARCE:
        return DoctorLine("memory", SUBJECT, "problem", fact, "End other programs, or ask for more.", numbers)
    if free < _LITTLE:
        advice = "Little for data and workers: a training that grows past it is ended by the kernel."
        return DoctorLine("memory", SUBJECT, "note", fact, advice, numbers)
    return DoctorLine("memory", SUBJECT, "ok", fact, numbers=numbers)


def _shared(place: Surroundings, workers: int | None) -> DoctorLine | None:
    """Loader workers hand batches over through `/dev/shm`; a container has 64 MB of it by default."""
    try:
        there = os.statvfs(place.root / "dev/shm")
    except (OSError, AttributeError):
        return None
    total, free = there.f_blocks * there.f_frsize, there.f_bavail * there.f_frsize
    fact = f"/dev/shm has {size(free)} of {size(total)} free."
    numbers = {"free": float(free), "total": float(total)}
    if free >= _SHARED_LITTLE:
        return DoctorLine("shared_memory", SUBJECT, "ok", fact, numbers=numbers)
    advice = "Loader workers hand batches over through it and end with a bus error when it is full: "
    advice += "docker run --shm-size=8g (or --ipc=host), or num_workers=0."
    return DoctorLine("shared_memory", SUBJECT, "problem" if workers else "note", fact, advice, numbers)


def _open_files() -> DoctorLine | None:
    try:
        import resource
    except ImportError:
        return None
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    fact = f"A process may open {hard_limit:,} files."
    if 0 < hard_limit < _FILES_FEW:
        advice = "ulimit -n 4096: loader workers keep a file open for each tensor they hand over."
        return DoctorLine("open_files", SUBJECT, "note", fact, advice, {"files": hard_limit})
    return DoctorLine("open_files", SUBJECT, "ok", fact, numbers={"files": float(hard_limit)})
