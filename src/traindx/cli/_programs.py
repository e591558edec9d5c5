"""What commands that run a script share: the program they are given, its source, a place to run it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from traindx.cli import Failure, quiet, say

if TYPE_CHECKING:
    from traindx.experiment.arms import Workshop
    from traindx.observe.program import Program
    from traindx.source.script import Script

_TIME = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(s|sec|m|min|h|)\s*")
_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def find_program(words: tuple[str, ...], as_module: bool) -> Program:
    """The program of a command line; options of traindx among its arguments are pointed out."""
    from traindx.cli._misplaced import advice
    from traindx.observe import program as programs

    find = programs.find_module if as_module else programs.find_script
    try:
        program = find(words[0], words[1:])
    except programs.NoProgram as error:
        raise Failure(str(error)) from None
    ctx = click.get_current_context()
    text, unknown = advice(ctx, words, as_module)
    if unknown and not quiet():
        say(f"traindx: {text}")
    # A script that refuses an option whose name its source mentions is known only at its end.
    ctx.meta["traindx.misplaced"] = "" if unknown else text
    announce(program)
    return program


def announce(program: Program) -> None:
    """The framework that the program trains with and what can be seen of it, before anything else.

    A command that cannot work there ends here.
    """
    from traindx.observe import agent, frameworks
    from traindx.observe.launcher_rank import place

    ctx = click.get_current_context()
    framework = None if agent.is_agent(program) else frameworks.of_script(program.path)
    if framework is None:
        return
    if refusal := framework.refusal(str(ctx.info_name)):
        raise Failure(refusal)
    ctx.meta["traindx.framework"] = framework.name
    if not quiet() and not ctx.params.get("as_json") and place().speaks:
        say(f"traindx: {framework.line}")


def seconds(text: str) -> float:
    """`90`, `90s`, `10m`, `2h`."""
    match = _TIME.fullmatch(text.lower())
    if match is None or not float(match[1]) > 0:
        raise click.UsageError(f"--time-budget {text!r} is no time like 90s, 10m or 2h.")
    return float(match[1]) * _UNITS[match[2]]


def script_of_program(program: Program) -> Script | None:
    """The parsed source, where there is one that can be parsed."""
    from traindx.experiment.api import source_of

    return source_of(program)


@contextmanager
def workshop(
    program: Program,
    budget: float | None,
    jobs: int | None = None,
    engine: str = "local",
    folder: str | None = None,
) -> Iterator[Workshop]:
    """A place where the program is run in copies; told in one line where it cannot be had."""
    from traindx.experiment.arms import Workshop

    try:
        if engine == "ray":
            from traindx.experiment.on_ray import RayWorkshop

            shop: Workshop = RayWorkshop(program, jobs=jobs, time_budget=budget)
        else:
            shop = Workshop(program, jobs=jobs, time_budget=budget, folder=folder)
        with shop:
            yield shop
        _say_outside(shop)
    except ImportError as error:
        if engine == "ray" and error.name == "ray":
            raise Failure("--engine ray needs Ray: pip install 'traindx[ray]'.") from None
        raise
    except OSError as error:
        if error.filename is None:
            raise
        from traindx.report.text import visible

        where = visible(str(error.filename), 200)
        raise Failure(
            f"{where}: {error.strerror}. Trials need a place for copies: set TMPDIR to one."
        ) from None


def _say_outside(shop: Workshop) -> None:
    """Before any result: what the script did outside its copies."""
    from traindx.report.side_effects import outside_lines

    for line in outside_lines(shop.outside):
        say(line)
