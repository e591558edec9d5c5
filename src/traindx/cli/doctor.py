"""`traindx doctor`: what of this machine will slow or spoil a training."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from traindx.cli import Failure
from traindx.cli._options import json_option
from traindx.cli._output import print_document, print_lines, screen
from traindx.report.text import count, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traindx.doctor.line import DoctorLine

_STYLES = {"ok": "good", "note": "warning", "problem": "alarm", "not_checked": "muted"}
_WORDS = {"ok": "ok", "note": "note", "problem": "PROBLEM", "not_checked": "not checked"}


@click.command(short_help="Find out what of this machine will slow or spoil a training.")
@click.argument("script", required=False)
@json_option("traindx/doctor/1")
@click.option("-a", "--all", "everything", is_flag=True, help="Show what is in order, too.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.5, 600),
    default=4.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a framework may take to be imported.",
)
def command(script: str | None, as_json: bool, everything: bool, timeout: float) -> None:
    """Measure what of this machine and its installation will slow or spoil a training.

    Python, the builds and versions of PyTorch, Keras and JAX, devices, cores and threads, limits of a
    container, memory and shared memory, disk, clock and terminal; with SCRIPT also its loaders, files that
    hide libraries, and what its latest recording shows of speed and memory. SCRIPT is read, not run. Each
    line is a measured fact: ok, note (may matter), PROBLEM (will), or not checked.

    Exit code: 0 when there is no problem, 1 when something will spoil or slow a training, 2 when it could
    not be done.
    """
    from traindx.core.nouns import Unreadable
    from traindx.doctor.examination import examine_machine
    from traindx.doctor.line import Surroundings

    try:
        lines = examine_machine(Surroundings(Path.cwd(), Path(script) if script else None, seconds=timeout))
    except (Unreadable, OSError) as error:
        raise Failure(f"{visible(str(error), 300).rstrip('.')}. Give a Python training script.") from None
    if as_json:
        _print_json(lines, script)
    else:
        _print(lines, everything)
    if any(line.state == "problem" for line in lines):
        raise SystemExit(1)


def _print_json(lines: Sequence[DoctorLine], script: str | None) -> None:
    from dataclasses import asdict

    from traindx.report.json_text import json_bytes

    document = {
        "schema": "traindx/doctor/1",
        "folder": os.getcwd(),
        "script": script,
        "verdict": "problem" if any(line.state == "problem" for line in lines) else "ok",
        "lines": [asdict(line) for line in lines],
    }
    print_document(json_bytes(document))


def _print(lines: Sequence[DoctorLine], everything: bool) -> None:
    """A line a fact, under its subject; what is in order without its subject's others on request only."""
    from traindx.report.layout import wrapped

    out, text, subject = screen(), [], ""
    for line in lines:
        if not everything and line.state == "ok" and line.id in _DETAILS:
            continue
        first = line.subject if line.subject != subject else ""
        subject = line.subject
        head = f"{first:<11} {_WORDS[line.state]:<11} "
        gap = " " * len(head)
        body = wrapped(out.plain(visible(line.fact, 400)), out.width, first=head, rest=gap)
        text.append(
            body[0].replace(_WORDS[line.state], out.paint(_WORDS[line.state], _STYLES[line.state]), 1)
        )
        text += body[1:]
        if line.advice:
            text += wrapped(
                out.plain(visible(line.advice, 400)), out.width, first=f"{gap}> ", rest=f"{gap}  "
            )
    print_lines("\n".join([*text, "", _summary(lines)]) + "\n")


# In order they say little: shown when asked for.
_DETAILS = {"open_files", "thread_speed", "load"}


def _summary(lines: Sequence[DoctorLine]) -> str:
    states = [line.state for line in lines]
    problems, notes, unchecked = (states.count(state) for state in ("problem", "note", "not_checked"))
    parts = [count(problems, "problem") if problems else "No problem"]
    parts += [count(notes, "note")] if notes else []
    parts += [f"{unchecked} not checked"] if unchecked else []
    return f"{', '.join(parts)}; {states.count('ok')} in order."
