"""The program of a recording, to run it again: the script, its arguments and its folder."""

from __future__ import annotations

import hashlib
import os
import shlex

from traindx.core import files
from traindx.core.facts import number
from traindx.core.nouns import Run
from traindx.observe.program import NoProgram, Program, find_module, find_script


class CannotRepeat(ValueError):
    """The training of a recording cannot be run again; the message is one line for the user."""


def program_of(run: Run) -> tuple[Program, str]:
    """What was run and where."""
    command, folder = run.facts.get("command"), run.facts.get("folder")
    if not isinstance(command, str) or not isinstance(folder, str):
        raise CannotRepeat(
            f"{run.path} does not say which script it is of. Give the script behind it: "
            "traindx confirm LOG train.py."
        )
    if (number(run.facts, "world_size") or 1) > 1:
        raise CannotRepeat("the training ran in several processes: experiments run one process only.")
    if not os.path.isdir(folder):
        raise CannotRepeat(f"the folder it ran in is gone: {folder}. Give the script behind the recording.")
    _same_script(run)
    return _program(_words(command), folder), folder


def _words(command: str) -> list[str]:
    """The command line behind `python`."""
    try:
        words = shlex.split(command)[1:]
    except ValueError:
        words = []
    if not words:
        raise CannotRepeat("the recording does not say which script it is of.")
    return words


def _same_script(run: Run) -> None:
    script = run.facts.get("script")
    path = script.get("path") if isinstance(script, dict) else None
    if not isinstance(script, dict) or not isinstance(path, str):
        return
    try:
        now = hashlib.sha256(files.read(path)).hexdigest()
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise CannotRepeat(f"the script of the recording is not there any more: {path} ({reason}).") from None
    if script.get("sha256") not in (None, now):
        raise CannotRepeat(
            f"{path} has changed since it was recorded: record it again, or give it behind the recording "
            "to try its present state."
        )


def _program(words: list[str], folder: str) -> Program:
    """The program, found from the folder it ran in."""
    try:
        if words[:1] == ["-m"] and len(words) > 1:
            return find_module(words[1], tuple(words[2:]), folder)
        return find_script(words[0], tuple(words[1:]), folder)
    except NoProgram as error:
        raise CannotRepeat(str(error)) from None
