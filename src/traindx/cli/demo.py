"""`traindx demo`: a training that goes wrong, and what traindx sees in it."""

from __future__ import annotations

import click

from traindx.cli._output import print_report


@click.command(short_help="Show traindx at work on a training that went wrong.")
def command() -> None:
    """Show traindx at work on a small training that really went wrong.

    The log ships with traindx; examples/diverge.py wrote it.
    """
    from dataclasses import replace
    from pathlib import Path

    from traindx.engine import read

    log = Path(__file__).parents[1] / "demo" / "diverged.log"
    reading = read(str(log))
    runs = (
        replace(run, name=run.name.replace(str(log), log.name), path=log.name, files=(log.name,))
        for run in reading.runs
    )
    click.echo(f"$ traindx inspect {log.name}\n")
    print_report(replace(reading, runs=tuple(runs)), everything=False)
