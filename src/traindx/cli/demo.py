"""`traindx demo`: a training that goes wrong, and what traindx says about it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import click

_HERE = Path(__file__).parents[1] / "demo"
_SCRIPT, _LOG = _HERE / "broken_training.py", _HERE / "diverged.log"


@click.command(short_help="Show traindx at work on a training that goes wrong.")
def command() -> None:
    """Show traindx at work on a small training that really goes wrong.

    With PyTorch installed it runs a broken training of a few seconds under 'traindx run'; the recording
    goes to .traindx as always. Without it, the log of another training that ships with traindx is
    diagnosed.
    """
    if importlib.util.find_spec("torch") is None:
        _diagnose_the_log("PyTorch is not installed, so here is the log of a training that went wrong.")
    elif not _run_the_training():
        _diagnose_the_log("The training did not run here, so here is the log of one that went wrong.")


def _run_the_training() -> bool:
    """In a process of its own, as a user would run it."""
    from traindx.cli._output import print_lines

    print_lines(f"$ traindx run {min(str(_SCRIPT), os.path.relpath(_SCRIPT), key=len)}\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "traindx", "run", str(_SCRIPT)]
    if subprocess.run(command, check=False).returncode:
        return False
    print_lines("\n".join(["", *_RUN_NEXT]) + "\n")
    return True


def _diagnose_the_log(why: str) -> None:
    from dataclasses import replace

    from traindx.cli._output import print_lines, screen
    from traindx.engine import diagnose, only_run
    from traindx.report.diagnosis_terminal import render_diagnosis

    run = replace(only_run(_LOG), name=_LOG.name, path=_LOG.name, files=(_LOG.name,))
    lines = render_diagnosis(diagnose(run), everything=False, screen=screen())
    print_lines("\n".join([why, "", f"$ traindx diagnose {_LOG.name}", "", *lines, "", *_NEXT]) + "\n")


_RUN_NEXT = (
    "Now your own: traindx run train.py, with the arguments it always has;",
    "traindx diagnose PATH reads the logs of runs that are over.",
)
_NEXT = (
    "Now your own: traindx diagnose PATH (a log, a run folder, a folder of runs);",
    "--html report.html gives a page with live curves, traindx explain lr_too_high the background.",
)
