"""A Python that has imported torch already and becomes one script after another, each in a fork.

Jobs come as JSON lines on standard input, `[argv, folder, printed]`; the exit codes go to standard output.
What the script prints goes to `out.txt` and `err.txt` in the folder `printed`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import signal
import sys
import threading
from collections.abc import Iterator

_SECONDS = 300


def _jobs() -> Iterator[tuple[list[str], str, str]]:
    for line in iter(sys.stdin.readline, ""):
        argv, folder, printed = json.loads(line)
        yield argv, folder, printed


def _serve() -> None:
    with contextlib.suppress(ImportError):
        import torch._dynamo  # noqa: F401  (which the first optimizer imports)
    gc.freeze()  # else every child goes through all of torch when it ends
    for argv, folder, printed in _jobs():
        child = os.fork()
        if not child:
            _become(argv, folder, printed)
            return
        end = threading.Timer(_SECONDS, os.kill, (child, signal.SIGKILL))
        end.start()
        _, status = os.waitpid(child, 0)
        end.cancel()
        end.join()
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(argv: list[str], folder: str, printed: str) -> None:
    """The child is the script from now on; it ends as a Python does."""
    os.chdir(folder)
    out, err = (os.path.join(printed, f"{name}.txt") for name in ("out", "err"))
    for number, name in ((0, os.devnull), (1, out), (2, err)):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(name, flags), number)
    if argv[0] == "-m":
        sys.path[0], sys.argv = folder, argv[1:]
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0], sys.argv = os.path.dirname(os.path.join(folder, argv[0])), argv
        runpy.run_path(os.path.join(folder, argv[0]), run_name="__main__")


if __name__ == "__main__":
    _serve()
