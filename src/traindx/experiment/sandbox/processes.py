"""Processes of a trial and their end: none of them outlives the trial."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

MARK = "TRAINDX_TRIAL"
_PARENT_DEATH_SIGNAL = 1
_CHILD_SUBREAPER = 36
_ROUNDS = 20


def end_with_parent() -> None:
    """Let the kernel end this process when the one that started it is gone, where it can."""
    parent = os.getppid()
    if _prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL) and os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Whatever a trial leaves running becomes a child of this process."""
    _prctl(_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    with contextlib.suppress(OSError, AttributeError):
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    return False


def end(pid: int, scratch: str) -> int:
    """End a trial, its group and whatever else it started; how many were still there."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    return len(_end_all(pid, f"{MARK}={scratch}".encode()) - {pid})


def end_marked(folder: str) -> int:
    """End what trials in a folder have left running; how many there were."""
    return len(_end_all(-1, f"{MARK}={folder}".encode()))


def _end_all(session: int, mark: bytes) -> set[int]:
    ended: set[int] = set()
    for _ in range(_ROUNDS):
        processes = [pid for pid in _of_trial(session, mark) if pid != os.getpid()]
        if not processes:
            break
        for pid in processes:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        ended.update(processes)
        time.sleep(0.01)
    return ended


def children() -> list[int]:
    """The children of this process."""
    me = os.getpid()
    with contextlib.suppress(OSError), open(f"/proc/{me}/task/{me}/children", encoding="ascii") as file:
        return [int(number) for number in file.read().split()]
    return []


def _of_trial(session: int, mark: bytes) -> Iterator[int]:
    """Living processes of its session, and those that carry its mark in their environment."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            if fields[0] in (b"Z", b"X"):
                continue
            if int(fields[3]) == session or _marked(name, mark):
                yield int(name)


def _marked(pid: str, mark: bytes) -> bool:
    """Whether its environment names this folder, or one in it."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        environment = file.read().split(b"\0")
    return any(entry == mark or entry.startswith(mark + b"/") for entry in environment)


def began(pid: int) -> str:
    """When a process began, as the kernel counts it: a number is given again, a number and a time are not."""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[19].decode()
    return ""


def remove(folder: str) -> None:
    """A folder with all that is in it, also what a script has made unwritable; links are not followed."""

    def retry(call: Callable[..., Any], path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            for target in (os.path.dirname(path), path):
                if not os.path.islink(target) and within_folder(target):
                    os.chmod(target, stat.S_IRWXU)
            call(path)

    def within_folder(path: str) -> bool:
        return os.path.realpath(path).startswith(os.path.realpath(folder))

    if sys.version_info >= (3, 12):
        shutil.rmtree(folder, onexc=retry)
    else:
        shutil.rmtree(folder, onerror=retry)
