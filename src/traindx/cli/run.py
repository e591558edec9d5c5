"""`traindx run`: a training as it is, recorded, watched and diagnosed."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import click

from traindx.cli import Failure
from traindx.cli._options import program_command
from traindx.core.nouns import SEVERITIES


def _share(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """`1%`, `0.5%` or `0.01`."""
    from traindx.observe.watch_arguments import share

    try:
        return share(value)
    except ValueError:
        message = f"{value!r} is no share between 0 and 50%, like 1%, 0.5% or 0.01."
        raise click.BadParameter(message, ctx, param) from None


class Untouched(click.Command):
    """Keeps the words of the command line that came before the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = list(args)
        rest = super().parse_args(ctx, args)
        program = ctx.params.get("program") or ()
        own_words = words[: len(words) - len(program)]
        ctx.meta["traindx.options"] = tuple(word for word in own_words if word not in ("-m", "--"))
        return rest


@program_command("Run a training script, record it, and report what is wrong.", cls=Untouched)
@click.option("--out", metavar="DIR", help="Where to record; default: .traindx/<script>-<time>.")
@click.option(
    "--budget",
    callback=_share,
    default="1%",
    show_default=True,
    metavar="SHARE",
    help="Share of the training's time that recording may take; 0 is --no-internals.",
)
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Stop cleanly after N optimizer steps.")
@click.option(
    "--stop-on",
    type=click.Choice(["critical", "never"]),
    default="never",
    show_default=True,
    help="Stop cleanly when something critical is found.",
)
@click.option(
    "--check-data/--no-check-data",
    default=True,
    show_default=True,
    help="Check the files that the script read, for a few seconds, after the training.",
)
@click.option("--no-internals", is_flag=True, help="Do not sample layers, activations and batches.")
@click.option(
    "-a", "--all", "everything", is_flag=True, help="Print all evidence, causes and checks at the end."
)
@click.option("--quiet", is_flag=True, help="Print nothing: neither status nor diagnosis.")
@click.option("--json", "json_out", metavar="FILE", help="Write the diagnosis as JSON.")
@click.option("--html", "html_out", metavar="FILE", help="Write the diagnosis as one page with live curves.")
@click.option("--force", is_flag=True, help="Let --json and --html replace existing files.")
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    help="Exit with 1 when a problem is at least so severe, though the program succeeded.",
)
@click.pass_context
def command(
    ctx: click.Context,
    as_module: bool,
    out: str | None,
    budget: float,
    steps: int | None,
    stop_on: str,
    check_data: bool,
    no_internals: bool,
    everything: bool,
    quiet: bool,
    json_out: str | None,
    html_out: str | None,
    force: bool,
    fail_on: str | None,
    program: tuple[str, ...],
) -> None:
    """Run a training script unchanged, record what happens inside, and say what is wrong.

    PROGRAM is a script, or with -m a module; everything after it is passed to it. It runs as it does
    under plain Python, with the same output and exit code. On a terminal a status shows below its
    output; the diagnosis follows on standard error, also when the program was interrupted or killed.

    'traindx diagnose' on the recording says the same again, at any time, also while the program runs.
    Under torchrun: torchrun --nproc-per-node 2 -m traindx run train.py.

    Exit code: the program's own; 1 by --fail-on; 2 when there is nothing to run.
    """
    from traindx.cli._programs import find_program
    from traindx.observe import folder as place
    from traindx.observe import launch

    afterwards: list[Callable[[], None]] | None = ctx.find_root().obj
    if afterwards is None:
        raise Failure("a program can be run only by the command 'traindx' itself.")
    found_program = find_program(program, as_module)
    _check_reports(json_out, html_out, force)
    try:
        planned = launch.plan(
            found_program,
            out,
            budget=budget,
            steps=steps,
            internals=not no_internals and budget > 0,
            stop_on_critical=stop_on == "critical",
            everything=everything,
            quiet=quiet,
            json=json_out and os.path.abspath(json_out),
            html=html_out and os.path.abspath(html_out),
            fail_on=fail_on,
            check_data=check_data,
            options=ctx.meta["traindx.options"],
            misplaced=ctx.meta["traindx.misplaced"],
            framework=ctx.meta.get("traindx.framework", ""),
        )
    except place.Taken as error:
        raise Failure(str(error)) from None
    afterwards.append(partial(launch.run, planned))


def _check_reports(json_out: str | None, html_out: str | None, force: bool) -> None:
    """What would fail after hours of training is refused before it."""
    files = [out for out in (json_out, html_out) if out is not None]
    if not files:
        return
    from traindx.cli._output import exists_already
    from traindx.observe.launcher_rank import place
    from traindx.report.text import visible

    me = place()
    if "-" in files:
        raise click.UsageError("standard output is the program's: give --json and --html file names.")
    if len({os.path.realpath(out) for out in files}) < len(files):
        raise click.UsageError("--json and --html name the same file; give each its own.")
    for out in files:
        folder = os.path.dirname(os.path.abspath(out))
        if not os.path.isdir(folder):
            raise Failure(f"{visible(out)}: there is no folder {visible(folder)}. Make it, or name another.")
        if os.path.isdir(out):
            raise Failure(f"{visible(out)} is a folder. Give the name of a file.")
        # A training that its launcher starts again finds the report of the time before.
        if os.path.lexists(out) and not force and me.speaks and not me.restart:
            raise exists_already(out)
