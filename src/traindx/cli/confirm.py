"""`traindx confirm`: experiments that tell the causes of a diagnosis apart."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure, note, say
from traindx.cli._options import budget_option, json_option, set_option
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis, Run
    from traindx.experiment.confirm.confirm import Confirmed
    from traindx.knowledge.suspicions import Suspicion
    from traindx.observe.program import Program

_SAVED = "confirmed.json"
# How much of the time the first run of a script may take.
_FIRST = 0.4


class Ordered(click.Command):
    """Options may also stand behind the recording, as long as no program does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, list(args))
        words, path = list(ctx.params["words"]), str(ctx.params["path"])
        if not words or not words[0].startswith("-") or _is_program(path, ctx.params["as_module"]):
            return rest
        # Options first; what follows them is the program.
        own_args = args[: len(args) - len(words) - 1]
        ctx.params.clear()
        super().parse_args(ctx, [*own_args, *words, path])
        if ctx.params["words"]:
            ctx.params["words"] = (ctx.params["path"], *ctx.params["words"][:-1])
        ctx.params["path"] = path
        return rest


def _is_program(path: str, as_module: bool) -> bool:
    return as_module or (os.path.isfile(path) and path.endswith((".py", ".pyc")))


@click.command(
    cls=Ordered,
    short_help="Decide between the likely causes by experiments.",
    context_settings={"allow_interspersed_args": False},
    options_metavar="[OPTIONS]",
)
@click.option("-m", "as_module", is_flag=True, help="The program is a module, as in 'python -m'.")
@click.option(
    "--steps", type=click.IntRange(1), metavar="N", help="Steps of each arm; default: past the trouble."
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 20),
    default=1,
    show_default=True,
    help="Pairs of runs for each experiment.",
)
@click.option("--top", type=click.IntRange(1), metavar="K", help="Tell only the K likeliest causes apart.")
@budget_option("5m")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Runs side by side.")
@click.option(
    "--suspect",
    "suspects",
    multiple=True,
    metavar="CAUSE[@FILE[:LINE]]",
    help="Test this suspicion: an id or words, and where. Repeatable.",
)
@click.option(
    "--suspect-patch",
    "patches",
    multiple=True,
    metavar="DIFF",
    help="Test a cause that has no name: whatever this edit removes. Repeatable.",
)
@click.option(
    "--reader",
    metavar="COMMAND",
    help="Ask this program what it suspects: a prompt on its standard input, JSON back.",
)
@click.option("--dry-run", is_flag=True, help="Print the experiments there are, and stop.")
@click.option("--yes", is_flag=True, help="Run what a recording names though you did not record it here.")
@click.option("--save", is_flag=True, help=f"Keep the result with the recording ({_SAVED}).")
@json_option("traindx/confirmation/1")
@click.option("-a", "--all", "everything", is_flag=True, help="Every cause in full at the end.")
@set_option
@click.argument("path", metavar="RECORDING|LOG|SCRIPT")
@click.argument("words", metavar="[PROGRAM] [ARGS]...", nargs=-1, type=click.UNPROCESSED)
def command(path: str, words: tuple[str, ...], as_module: bool, **options: Any) -> None:
    """Find out by experiments which of the likely causes it is.

    Each experiment changes one thing while the script runs (a tenth of the learning rate, gradients
    cleared, one batch for ever) and compares with the script as it is, in a copy of its folder: your files
    stay as they are. The one that is expected to tell most a second comes next, until one cause stands out.

    What you suspect is tested first: each suspicion is confirmed, refuted, or not testable here, with the
    numbers. It counts 1 bit in the ranking until it is tested, and raises no alarm.

    A RECORDING of 'traindx run' knows its script; one that you did not make on this machine is run only
    after a yes. A LOG needs the script and its arguments behind it. A SCRIPT is run and diagnosed first.

    Exit code: 0 when nothing is wrong, 1 when there is a problem, 2 when it could not be done.
    """
    from traindx.cli._programs import announce, seconds
    from traindx.experiment.pooling import keep_confirmation

    budget = seconds(options["time_budget"])
    suspicions = _suspicions(options["suspects"])
    recorded, program, folder = _what_to_confirm(path, words, as_module)
    if options["save"] and (recorded is None or not os.path.isdir(path)):
        raise click.UsageError("--save keeps the result with a recording; give the folder of one.")
    if recorded is not None and not words and not options["dry_run"]:
        from traindx.cli._consent import ask_to_run

        ask_to_run(recorded, program, folder, yes=options["yes"])
        announce(program)
    suspicions += _patches(options["patches"], folder)
    confirmed = _confirm(recorded, program, folder, budget, suspicions, options)
    if confirmed is None:
        return
    keep_confirmation(program, folder, confirmed)
    _print_result(confirmed, program, path, options)
    if confirmed.after.verdict == "problem":
        raise SystemExit(1)


def _what_to_confirm(path: str, words: tuple[str, ...], as_module: bool) -> tuple[Run | None, Program, str]:
    """The run to confirm (None: the program is run first), the program and its folder."""
    from traindx.cli._programs import find_program
    from traindx.engine import last_run
    from traindx.experiment.recorded_program import CannotRepeat, program_of

    if _is_program(path, as_module):
        return None, find_program((path, *words), as_module), os.getcwd()
    try:
        run = last_run(path)
        if words:
            return run, find_program(words, False), os.getcwd()
        return run, *program_of(run)
    except CannotRepeat as error:
        raise Failure(visible(str(error), 400)) from None
    except ValueError as error:
        reason = visible(str(error), 300).rstrip(".")
        raise Failure(f"{reason}. Give a recording of traindx run, or a script.") from None


def _suspicions(texts: Sequence[str]) -> list[Suspicion]:
    from traindx.knowledge.suspicions import UnknownCause, suspected

    try:
        return [suspected(text) for text in texts]
    except UnknownCause as error:
        raise Failure(f"--suspect: {visible(str(error), 300)}") from None


def _patches(paths: Sequence[str], folder: str) -> list[Suspicion]:
    from traindx.experiment.prove.versions import NoVersion, as_patch
    from traindx.knowledge.suspicions import Suspicion

    for path in paths:
        try:
            as_patch(path, folder)
        except NoVersion as error:
            raise Failure(f"--suspect-patch: {visible(str(error), 300)}") from None
    return [Suspicion(patch=path) for path in paths]


def _confirm(
    recorded: Run | None,
    program: Program,
    folder: str,
    budget: float,
    suspicions: list[Suspicion],
    options: dict[str, Any],
) -> Confirmed | None:
    from traindx.cli._confirming import ConfirmProgress
    from traindx.cli._programs import script_of_program, workshop
    from traindx.experiment.arm_diagnosis import examined
    from traindx.experiment.arms import Arm
    from traindx.experiment.confirm.confirm import Confirmation, ConfirmRequest

    progress, first = ConfirmProgress(quiet=options["as_json"]), None
    request = ConfirmRequest(options["steps"], options["seeds"], options["top"], budget)
    script = script_of_program(program)
    if recorded is not None and options["dry_run"]:
        progress.plan(examined(recorded, script, every_cause=True, unchanged=True), request)
        progress.say([f"  To run: {visible(program.typed)} in {visible(folder)}"])
        return None
    try:
        with workshop(program, budget, options["jobs"], folder=folder) as shop:
            if recorded is None:
                progress.doing(f"running {visible(program.name, 60)} as it is")
                arm = Arm("as it is, to its end", steps=options["steps"])
                first = shop.run_one(arm, timeout=_FIRST * budget)
                if first.run is None or not first.steps:
                    raise Failure(
                        f"{visible(program.name, 80)} could not be observed: {visible(first.message, 300)}"
                    )
                if first.ended == "crashed":
                    say(f"Warning: {visible(first.message, 300)}")
                # The recording is gone with the workshop: what is read later is the script.
                recorded = replace(first.run, name=program.name, path=program.path or program.name)
            diagnosis: Diagnosis = examined(recorded, script, every_cause=True, unchanged=True)
            progress.begin(diagnosis, request)
            if options["dry_run"]:
                progress.plan(diagnosis, request)
                return None
            if options["reader"]:
                from traindx.cli._reader import asked

                suspicions += asked(options["reader"], diagnosis, script)
            request = replace(request, suspicions=tuple(suspicions))
            return Confirmation(shop, diagnosis, request, progress, script, first).run()
    finally:
        progress.close()


def _print_result(confirmed: Confirmed, program: Program, path: str, options: dict[str, Any]) -> None:
    from traindx.cli._output import print_document, print_lines, screen, writing
    from traindx.report.confirmation import ending
    from traindx.report.confirmation_json import confirmation_dict
    from traindx.report.json_text import json_document

    document = confirmation_dict(confirmed, program.typed)
    if options["as_json"]:
        print_document(json_document(document))
    else:
        print_lines("\n".join(ending(confirmed, options["everything"], screen())) + "\n")
    if options["save"]:
        target = Path(path) / _SAVED
        with writing(str(target)):
            target.write_bytes(json_document(document))
        note(f"Wrote {target!s}")
