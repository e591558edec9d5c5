"""What runs here and where: the first facts of a recording."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from traindx.core import files
from traindx.observe import signature
from traindx.observe.launcher_rank import LaunchedRank, launch_key
from traindx.observe.launcher_rank import place as place_by_launcher


def interactive() -> bool:
    """Whether somebody types here: a notebook or a prompt, which outlives its errors."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return hasattr(sys, "ps1") or (get is not None and get() is not None)


def script() -> str | None:
    """The file that runs as `__main__`; None in a notebook or at a prompt."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.abspath(path) if isinstance(path, str) and not interactive() else None


def stem() -> str:
    """A short name for what runs here."""
    path = script()
    if path is None:
        return "notebook" if "IPython" in sys.modules else "session"
    name, _ = os.path.splitext(os.path.basename(path))
    return os.path.basename(os.path.dirname(path)) if name == "__main__" else name


def place() -> LaunchedRank:
    """Which process of a distributed training this is, by its launcher or by torch.distributed itself."""
    launched = place_by_launcher()
    distributed: Any = sys.modules.get("torch.distributed")
    with contextlib.suppress(Exception):
        if launched.world == 1 and distributed is not None and distributed.is_initialized():
            rank, world = int(distributed.get_rank()), int(distributed.get_world_size())
            if world > 1:
                return LaunchedRank(rank=rank, local=rank, world=world, key=launch_key())
    return launched


def facts_here(world: int) -> dict[str, object]:
    """The facts of a recording that a script began by itself."""
    path = script()
    return facts(path, sys.argv if path is not None else None, world)


def facts(path: str | None, command: Sequence[str] | None, world: int) -> dict[str, object]:
    """For `run.json`: the file that runs, how it was started, and where."""
    script_facts: dict[str, object] = {"path": path}
    with contextlib.suppress(OSError):
        if path is not None:
            script_facts["sha256"] = hashlib.sha256(files.read(path)).hexdigest()
    run_facts: dict[str, object] = {
        "command": shlex.join(["python", *command]) if command is not None else None,
        "script": script_facts if path is not None else None,
        "folder": os.getcwd(),
        "python": platform.python_version(),
        # Not platform.platform(), which starts a process.
        "platform": f"{platform.system()}-{platform.release()}-{platform.machine()}",
        "host": platform.node(),
        "world_size": world,
    }
    return run_facts | {"signature": signature.sign(run_facts)}
