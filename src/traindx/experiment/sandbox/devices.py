"""What of `/dev` and `/proc` a training may write to: named devices and its own process, nothing else."""

from __future__ import annotations

import contextlib
import glob
import json
import os

SHARED_MEMORY = "/dev/shm"
# Terminals and the endless files; graphics cards and other accelerators.
_DEVICES = (
    "null zero full random urandom tty ptmx pts dri kfd dxg accel* infiniband nvidia* neuron* davinci* vfio"
)
# Names of descriptors this process has open: what they mean is checked when it is opened.
_STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd")
_OWN = ("/proc/self/", "/proc/thread-self/")
_STATE = "memory.json"
_MOST_FILES = 5000


def devices() -> list[str]:
    """The devices of this machine that a training may write to."""
    return [path for name in _DEVICES.split() for path in sorted(glob.glob(f"/dev/{name}"))]


def is_own(path: str) -> bool:
    """Whether a path names something of this process itself."""
    if path.startswith("/proc/"):
        return path.startswith((*_OWN, f"/proc/{os.getpid()}/"))
    return path in _STREAMS or path.startswith("/dev/fd/")


def keep_memory_state(scratch: str) -> None:
    """What is in shared memory before a trial that the kernel cannot keep out of it; once a trial."""
    with (
        contextlib.suppress(FileExistsError),
        open(os.path.join(scratch, _STATE), "x", encoding="utf-8") as file,
    ):
        json.dump(_memory_state(), file)


def changed_memory(scratch: str) -> list[str]:
    """What lay in shared memory before the trial, and was changed or removed meanwhile."""
    with contextlib.suppress(OSError, ValueError):
        with open(os.path.join(scratch, _STATE), encoding="utf-8") as file:
            old_state: dict[str, list[int]] = json.load(file)
        now = _memory_state()
        return [path for path, facts in old_state.items() if now.get(path) != facts]
    return []


def _memory_state() -> dict[str, list[int]]:
    state: dict[str, list[int]] = {}
    for folder, _, names in os.walk(SHARED_MEMORY):
        for name in names:
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                facts = os.lstat(path)
                state[path] = [facts.st_size, facts.st_mtime_ns, facts.st_mode]
        if len(state) > _MOST_FILES:
            break
    return state
