"""A yes before a program runs that a recording names: a recording may come from anywhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

import click

from traindx.cli import Failure, say

if TYPE_CHECKING:
    from traindx.core.nouns import Run
    from traindx.observe.program import Program


def ask_to_run(run: Run, program: Program, folder: str, *, yes: bool) -> None:
    """Returns if this user made the recording or agrees; nothing of the program is touched before.

    The command is shown in full: its end matters as much as its beginning.
    """
    from traindx.observe.signature import holds

    if yes or holds(run.facts):
        return
    unknown = f"{run.path} was not recorded by you on this machine"
    if not (_terminal(sys.stdin) and _terminal(sys.stderr)):
        raise Failure(
            f"{unknown}, and names a program to run: {program.typed} in {folder}. "
            "Look at it, then give --yes to run it."
        )
    say(f"{unknown}. It names what to run:")
    say(f"  {program.typed}")
    say(f"  in {folder}")
    say("In a trial it writes into copies, but it can read your files and use the network.")
    if not click.confirm("Run it?", err=True):
        raise Failure("nothing was run.")


def _terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()
