"""`traindx demo`: a training that goes wrong, the cause, the experiment, the proven fix."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click

_HERE = Path(__file__).parent / "_demo"
_SCRIPT, _LOG = _HERE / "broken_training.py", _HERE / "diverged.log"
_FOLDER, _RECORDING = "traindx-demo", ".traindx/demo"


@click.command(short_help="Show traindx at work on a training that goes wrong.")
@click.option("--folder", metavar="DIR", help="Where to play; default: traindx-demo, or traindx-demo-2, ...")
def command(folder: str | None) -> None:
    """Show traindx at work on a small training that really goes wrong.

    With PyTorch installed it copies a broken script into a folder of its own and treats it there as you would
    yours: the diagnosis, the experiment that confirms the cause, the remedy proven in paired runs, the
    diff, the picture. It takes a minute or two. Without PyTorch, the log of another training that ships with
    traindx is diagnosed.
    """
    if importlib.util.find_spec("torch") is None:
        _diagnose_the_log("PyTorch is not installed, so here is the log of a training that went wrong.")
        return
    place = _place(folder)
    if not _tell_the_story(place):
        _diagnose_the_log("The training did not run here, so here is the log of one that went wrong.")


def _place(wish: str | None) -> Path:
    """A folder that is new."""
    from traindx.cli import Failure
    from traindx.core.free_names import first_free
    from traindx.report.text import visible

    if wish is not None and os.path.lexists(wish):
        raise Failure(f"{visible(wish)} exists already. Give --folder a new name.")
    path = Path(wish) if wish is not None else first_free(Path(_FOLDER))
    try:
        path.mkdir(parents=True)
        shutil.copyfile(_SCRIPT, path / "train.py")
    except OSError as error:
        raise Failure(
            f"{visible(str(path))} cannot be written: {error.strerror}. Go to another folder."
        ) from None
    return path


def _tell_the_story(place: Path) -> bool:
    """Each command in a process of its own, as a user would type it."""
    if _run(place, "run", "--out", _RECORDING, "train.py"):
        return False
    _run(place, "confirm", _RECORDING)
    _run(place, "treat", "--seeds", "2", "train.py")
    _say("", *(line.format(place=place) for line in _NEXT_STEPS))
    return True


def _run(place: Path, *words: str) -> int:
    _say("", f"$ traindx {' '.join(words)}", "")
    return subprocess.run([sys.executable, "-m", "traindx", *words], cwd=place, check=False).returncode


def _say(*lines: str) -> None:
    from traindx.cli._output import print_lines

    print_lines("\n".join(lines) + "\n")
    sys.stdout.flush()


def _diagnose_the_log(why: str) -> None:
    from dataclasses import replace

    from traindx.cli._output import print_lines, screen
    from traindx.engine import diagnose, only_run
    from traindx.report.diagnosis import render_diagnosis

    run = replace(only_run(_LOG), name=_LOG.name, path=_LOG.name, files=(_LOG.name,))
    lines = render_diagnosis(diagnose(run), everything=False, screen=screen())
    print_lines("\n".join([why, "", f"$ traindx diagnose {_LOG.name}", "", *lines, "", *_NEXT]) + "\n")


_NEXT_STEPS = (
    "See {place}/treatment: training_comparison.png is the proof, report.html the whole story.",
    "Now your own: traindx run train.py with the arguments it always has, then traindx treat train.py;",
    "traindx diagnose PATH reads the logs of runs that are over.",
)
_NEXT = (
    "Now your own: traindx diagnose PATH (a log, a run folder, a folder of runs);",
    "--html report.html gives a page with live curves, traindx explain lr_too_high the background.",
)
