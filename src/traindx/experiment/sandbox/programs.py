"""Programs that a training starts, where the kernel cannot bind them: only those that are known to read."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

from traindx.experiment.sandbox.guard import Guard

_READING = {
    "arch cat date df du file free getconf grep hostname id ldconfig ldd ls lsb_release lscpu lspci",
    "nproc nvidia-smi ps rocm-smi sw_vers sysctl system_profiler uname wc which whoami xcrun",
}
_HARMLESS = {name for line in _READING for name in line.split()}
_GIT_READING = {"branch", "describe", "diff", "log", "ls-files", "remote", "rev-parse", "show", "status"}


def watch_programs(guard: Guard) -> None:
    """Refuse programs that might write."""

    def heard(event: str, args: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            program, words = args[0], [str(word) for word in args[1]]
        elif event in ("os.exec", "os.posix_spawn"):
            program, words = args[0], [os.fsdecode(word) for word in args[1]]
        elif event == "os.system":
            program, words = "sh", ["sh", "-c", os.fsdecode(args[0])]
        else:
            return
        if not _reads(os.fsdecode(program), words):
            guard.note("refused", f"the program {os.path.basename(os.fsdecode(program))}")
            raise PermissionError(
                errno.EACCES,
                "a trial of traindx starts no program that might write, where the system cannot bind it",
                program,
            )

    sys.addaudithook(heard)


def _reads(program: str, words: list[str]) -> bool:
    name = os.path.basename(program)
    if name == "git":
        arguments = [word for word in words[1:] if not word.startswith("-")]
        return bool(arguments) and arguments[0] in _GIT_READING
    # Children of multiprocessing are guarded by themselves.
    if os.path.realpath(program) == os.path.realpath(sys.executable):
        return any("multiprocessing" in word or "spawn_main" in word for word in words)
    return name in _HARMLESS
