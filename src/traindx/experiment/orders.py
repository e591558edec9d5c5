"""What an arm's process is given: the program, where it runs, what is changed, and its surroundings."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.core import files
from traindx.core.free_names import first_free
from traindx.experiment.sandbox.overlay import within
from traindx.experiment.sandbox.processes import MARK
from traindx.observe.program import Program

if TYPE_CHECKING:
    from traindx.experiment.arms import Arm

_BUDGET = 0.05
# What is compiled for one arm serves the others.
_SHARED = "compiled"
_UNFIT = re.compile(r"[^\w.=+-]+")
_THREADS = "OMP_NUM_THREADS"
_TRAINS = re.compile(r"\b(?:torch|lightning|transformers|accelerate|fastai|monai|timm|trl|peft)\b")
# Read by libraries when they are imported: a script that sets them must run before the import.
_BEFORE_IMPORT = re.compile(
    r"""environ.{0,40}["'](?:OMP_|MKL_|OPENBLAS_|KMP_|GOMP_|TORCH|PYTORCH_|CUBLAS_|ATEN_)"""
)


def cores() -> int:
    """The cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def threads(jobs: int) -> dict[str, str]:
    """The threads of an arm: as the user set them, or a fair share."""
    return {_THREADS: os.environ.get(_THREADS) or str(max(1, cores() // jobs))}


def warm(program: Program) -> bool:
    """Whether arms of this program can be forks of a process that has imported torch."""
    if os.environ.get("TRAINDX_FORK") == "0" or not hasattr(os, "fork"):
        return False
    try:
        text = files.read(program.path or "").decode("utf-8", "replace")
    except OSError:
        return False
    return bool(_TRAINS.search(text)) and not _BEFORE_IMPORT.search(text)


def orders(
    program: Program,
    arm: Arm,
    cwd: str,
    scratch: Path,
    recording: Path,
    folders: Sequence[str],
) -> dict[str, Any]:
    """The orders, as they are written down for the arm's process."""
    root = str(scratch / "root")
    (scratch / "tmp").mkdir()
    (scratch.parent / _SHARED).mkdir(exist_ok=True)
    args = program.args if arm.args is None else arm.args
    return {
        "program": [_name(program, root, folders), *args],
        "module": program.kind == "module",
        "cwd": cwd if cwd == os.sep else root + cwd,
        "record": str(recording),
        "steps": arm.steps,
        "internals": arm.internals,
        "budget": _BUDGET,
        "changes": [change.to_json() for change in arm.changes],
        "seed": arm.seed,
        "scratch": str(scratch),
        "shared": str(scratch.parent / _SHARED),
        "mirrors": [[folder, root + folder] for folder in folders],
        "out": str(scratch / "out.txt"),
        "err": str(scratch / "err.txt"),
        "environment": _environment(scratch, root, folders, cwd),
    }


def _name(program: Program, root: str, folders: Sequence[str]) -> str:
    """A script named by its full path is the copy's."""
    if program.kind == "module" or not os.path.isabs(program.name):
        return program.name
    full = os.path.normpath(program.name)
    for name in (full, os.path.realpath(full)):
        if any(within(name, folder) for folder in folders):
            return root + name
    return program.name


def _environment(scratch: Path, root: str, folders: Sequence[str], cwd: str) -> Mapping[str, str]:
    """Temporary files in the scratch, loggers offline, modules from the copy."""
    temporary = str(scratch / "tmp")
    variables = {
        MARK: str(scratch),
        "TRAINDX_ORDERS": str(scratch / "orders.json"),
        "TMPDIR": temporary,
        "TMP": temporary,
        "TEMP": temporary,
        "TORCHINDUCTOR_CACHE_DIR": str(scratch.parent / _SHARED / "inductor"),
        "TRITON_CACHE_DIR": str(scratch.parent / _SHARED / "triton"),
        "KERAS_HOME": str(scratch.parent / _SHARED / "keras"),
        "WANDB_MODE": "offline",
        "MLFLOW_TRACKING_URI": f"file://{scratch}/mlruns",
        "NEPTUNE_MODE": "offline",
        "COMET_START_ONLINE": "0",
        "COMET_OFFLINE_DIRECTORY": temporary,
        "CLEARML_OFFLINE_MODE": "1",
        "SWANLAB_MODE": "offline",
        "DVC_STUDIO_OFFLINE": "true",
    }
    if os.environ.get("WANDB_DIR"):
        variables["WANDB_DIR"] = temporary
    path = os.environ.get("PYTHONPATH")
    if path:
        places = [os.path.normpath(os.path.join(cwd, entry)) for entry in path.split(os.pathsep)]
        led = [root + place if any(within(place, f) for f in folders) else place for place in places]
        variables["PYTHONPATH"] = os.pathsep.join(led)
    return variables


def free_name(home: Path, name: str) -> Path:
    """A folder for an arm's recording, under a name that is free."""
    fit = _UNFIT.sub("-", name).strip("-.")[:60] or "arm"
    return first_free(home / fit)
