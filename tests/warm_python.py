"""A Python that has imported torch already and becomes one script after another, each in a fork.

Jobs come as JSON lines on standard input, `[argv, folder]`; the exit codes go to standard output. What
the script prints goes to `out.txt` and `err.txt` beside its folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import sys
from collections.abc import Iterator


def _jobs() -> Iterator[tuple[list[str], str]]:
    for line in iter(sys.stdin.readline, ""):
        argv, folder = json.loads(line)
        yield argv, folder


def _serve() -> None:
    with contextlib.suppress(ImportError):
        import torch._dynamo  # noqa: F401  (which the first optimizer imports)
    for argv, folder in _jobs():
        child = os.fork()
        if not child:
            _become(argv, folder)
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(argv: list[str], folder: str) -> None:
    """The child is the script from now on; it ends as a Python does."""
    os.chdir(folder)
    for number, name in ((0, os.devnull), (1, "../out.txt"), (2, "../err.txt")):
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
