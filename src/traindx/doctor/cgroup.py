"""The limits that a container or a batch system sets (control groups, version 1 and 2)."""

from __future__ import annotations

from traindx.doctor.line import Surroundings

_UNLIMITED = 2**60
_V1 = {
    "memory.max": ("memory", "memory.limit_in_bytes"),
    "memory.current": ("memory", "memory.usage_in_bytes"),
    "memory.events": ("memory", "memory.oom_control"),
    "cpu.stat": ("cpu", "cpu.stat"),
}


def cores(place: Surroundings) -> float | None:
    """How many cores' time the group may use; None where nothing limits it."""
    quota, _, period = (_read(place, "cpu.max").strip() or _v1_quota(place)).partition(" ")
    if not quota.lstrip("-").isdigit() or not period.strip().isdigit() or int(quota) <= 0:
        return None
    return int(quota) / int(period)


def memory(place: Surroundings) -> int | None:
    """The most bytes the group may hold; None where nothing limits it."""
    text = _read(place, "memory.max").strip()
    return int(text) if text.isdigit() and int(text) < _UNLIMITED else None


def memory_in_use(place: Surroundings) -> int | None:
    text = _read(place, "memory.current").strip()
    return int(text) if text.isdigit() else None


def killed(place: Surroundings) -> int:
    """How many processes of the group the kernel has ended for want of memory."""
    return _counts(_read(place, "memory.events")).get("oom_kill", 0)


def throttled(place: Surroundings) -> float | None:
    """The share of scheduling periods in which the group had to wait for its quota."""
    counts = _counts(_read(place, "cpu.stat"))
    periods = counts.get("nr_periods", 0)
    return counts.get("nr_throttled", 0) / periods if periods else None


def _counts(text: str) -> dict[str, int]:
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _v1_quota(place: Surroundings) -> str:
    quota = _in_group(place, "cpu", "cpu.cfs_quota_us").strip()
    return f"{quota} {_in_group(place, 'cpu', 'cpu.cfs_period_us').strip()}"


def _read(place: Surroundings, name: str) -> str:
    """The file of version 2, else that of version 1."""
    return _in_group(place, "", name) or (_in_group(place, *_V1[name]) if name in _V1 else "")


def _in_group(place: Surroundings, controller: str, name: str) -> str:
    """In the group of this process; in a container its own group is mounted at the top."""
    top = f"sys/fs/cgroup/{controller}".rstrip("/")
    return place.read(f"{top}{_group(place, controller)}/{name}") or place.read(f"{top}/{name}")


def _group(place: Surroundings, controller: str) -> str:
    for line in place.read("proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if controller in names.split(","):
            return path.rstrip("/")
    return ""
