"""`traindx demo`: a training that goes wrong, and what traindx says about it."""

from __future__ import annotations

import click


@click.command(short_help="Show traindx at work on a training that went wrong.")
def command() -> None:
    """Show traindx at work on a small training that really went wrong.

    The log ships with traindx; examples/diverge.py wrote it.
    """
    from dataclasses import replace
    from pathlib import Path

    from traindx.cli._output import print_lines, screen
    from traindx.engine import diagnose, only_run
    from traindx.report.diagnosis_terminal import render_diagnosis

    log = Path(__file__).parents[1] / "demo" / "diverged.log"
    run = replace(only_run(log), name=log.name, path=log.name, files=(log.name,))
    lines = render_diagnosis(diagnose(run), everything=False, screen=screen())
    print_lines("\n".join([f"$ traindx diagnose {log.name}", "", *lines, "", *_NEXT]) + "\n")


_NEXT = (
    "Now your own: traindx diagnose PATH (a log, a run folder, a folder of runs);",
    "--html report.html gives a page with live curves, traindx explain lr_too_high the background.",
)
