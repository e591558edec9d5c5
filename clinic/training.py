"""Scripts run under `traindx run`, each in a folder of its own, and recordings diagnosed anew."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .truth import HERE, Script

RUNS = HERE / ".runs"
LIMIT_S = 180.0
Diagnosis = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What traindx said of a script: one diagnosis per training in it, the worst first."""

    script: Script
    diagnoses: tuple[Diagnosis, ...]
    seconds: float
    fault: str = ""


def outcome(script: Script, again: bool, runs: Path = RUNS) -> Outcome:
    """Train and diagnose; with `again` only diagnose, if there is a recording of this very script."""
    folder = runs / script.name
    if again and _recorded(script, folder):
        return rediagnosed(script, folder)
    return trained(script, folder)


def _recorded(script: Script, folder: Path) -> bool:
    try:
        return (folder / "script.sha256").read_text() == _digest(script)
    except OSError:
        return False


def _digest(script: Script) -> str:
    return hashlib.sha256(script.path.read_bytes()).hexdigest()


def trained(script: Script, folder: Path) -> Outcome:
    """Run the script as a user would, its output beside its recording."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "work").mkdir(parents=True)
    said = folder / "diagnosis.json"
    command = [sys.executable, "-m", "traindx", "run", "--quiet", "--out", str(folder / "recording")]
    command += ["--json", str(said), *script.launch, str(script.path.resolve())]
    began = time.monotonic()
    with open(folder / "output.txt", "wb") as output:
        fault = _run(command, folder / "work", output)
    took = time.monotonic() - began
    try:
        told = json.loads(said.read_bytes())
    except (OSError, ValueError):
        return Outcome(script, (), took, fault or "no diagnosis was written")
    (folder / "script.sha256").write_text(_digest(script))
    return Outcome(script, tuple(told.get("runs", [told])), took, fault)


def _run(command: list[str], folder: Path, output: Any) -> str:
    """Run to its end or the time limit, with all its children; what went wrong, or nothing."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
    )
    try:
        code = process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"took more than {LIMIT_S:g} s"
    return f"exit code {code}" if code else ""


def rediagnosed(script: Script, folder: Path) -> Outcome:
    """The recording judged by the knowledge of now."""
    from traindx.engine import diagnose, read
    from traindx.evidence.phase import worst_first

    began = time.monotonic()
    try:
        found = worst_first([diagnose(run) for run in read(folder / "recording").runs])
        told = tuple(diagnosis.to_dict() for diagnosis in found)
    except Exception as error:  # a detector that fails must not hide the others' results
        return Outcome(script, (), time.monotonic() - began, f"{type(error).__name__}: {error}")
    return Outcome(script, told, time.monotonic() - began, "" if told else "no run in the recording")
