"""`traindx preflight`: minutes before the long run, is everything as it should be?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traindx.cli import Failure
from traindx.cli._options import set_option
from traindx.cli._output import print_document, print_lines, screen
from traindx.cli._programs import found_program, script_of_program, seconds, workshop
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.experiment.arms import Arm
    from traindx.experiment.preflight.result import Checklist
    from traindx.observe.program import Program


@click.command(
    short_help="Check a training script before the long run.",
    context_settings={"allow_interspersed_args": False},
    options_metavar="[OPTIONS]",
)
@click.option("-m", "as_module", is_flag=True, help="The program is a module, as in 'python -m'.")
@click.option(
    "--steps", type=click.IntRange(10), metavar="N", help="Optimizer steps of each short run; default: 300."
)
@click.option(
    "--time-budget",
    "budget",
    default="5m",
    show_default=True,
    metavar="TIME",
    help="End after this, as 90s or 10m.",
)
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Runs at a time; default: one for each core."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (schema traindx/preflight/1).")
@set_option
@click.argument("program", metavar="PROGRAM [ARGS]...", nargs=-1, type=click.UNPROCESSED, required=True)
@click.pass_context
def command(
    ctx: click.Context,
    as_module: bool,
    steps: int | None,
    budget: str,
    jobs: int | None,
    as_json: bool,
    program: tuple[str, ...],
) -> None:
    """Check an unmodified training script before the long run: pass, fail or not judged, with numbers.

    PROGRAM is a script, or with -m a module; everything after it is passed to it. It is run a few times for
    a few hundred steps in copies of its folder: as it is, twice, with its first batch repeated for ever, with
    zeroed inputs, and with shuffled labels. Nothing of yours is written to.

    Checked are data and labels, the loss at initialisation against chance, gradients and optimizer, whether
    one batch can be overfitted and inputs and labels matter, independence of samples, modes, determinism,
    throughput, memory and time.

    Exit code: 0 when nothing failed, 1 when something failed, 2 when the script could not be run.
    """
    found = found_program(program, as_module)
    checklist, outside = _flown(found, seconds(budget), jobs, steps)
    if as_json:
        from traindx.report.json_text import json_bytes

        print_document(json_bytes({**checklist.to_dict(), "outside": outside}))
    else:
        from traindx.report.checklist import render_checklist

        print_lines("\n".join(render_checklist(checklist, found.name, screen())) + "\n")
    if not checklist:
        ctx.exit(1)


def _flown(
    found: Program, limit: float, jobs: int | None, steps: int | None
) -> tuple[Checklist, dict[str, list[str]]]:
    """The checks of a program, with a line that moves while they run; what it did outside its copies."""
    from traindx.experiment.orders import threads
    from traindx.experiment.preflight.preflight import STEPS, Unflown, fly

    source, telling = script_of_program(found), _Telling()
    try:
        with workshop(found, limit, jobs) as shop:
            checklist = fly(
                shop,
                script=source,
                steps=steps or STEPS,
                time_budget=limit,
                threads=int(threads(shop.jobs)["OMP_NUM_THREADS"]),
                progress=telling.progress,
            )
            return checklist, shop.listed()
    except Unflown as error:
        raise Failure(visible(str(error), 400)) from None
    finally:
        telling.close()


class _Telling:
    """One moving line on a terminal, on standard error."""

    def __init__(self) -> None:
        from traindx.cli._progress_line import Moving

        self._moving = Moving()
        self._now: dict[str, int] = {}

    def progress(self, arm: Arm, steps: int, spent: float) -> None:
        del spent
        self._now[arm.name] = steps
        running = ", ".join(f"{name}: {made:,} steps" for name, made in list(self._now.items())[-2:])
        self._moving.draw(running)

    def close(self) -> None:
        self._moving.close()
