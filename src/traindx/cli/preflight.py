"""`traindx preflight`: minutes before the long run, is everything as it should be?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure
from traindx.cli._options import budget_option, jobs_option, json_option, program_command, set_option
from traindx.cli._output import print_document, print_lines, screen
from traindx.cli._programs import find_program, script_of_program, seconds, workshop
from traindx.cli._progress_line import Moving
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.experiment.arms import Arm
    from traindx.experiment.preflight.result import Checklist
    from traindx.observe.program import Program


@program_command("Check a training script before the long run.")
@click.option(
    "--steps", type=click.IntRange(10), metavar="N", help="Optimizer steps of each short run; default: 300."
)
@budget_option("5m")
@jobs_option
@json_option("traindx/preflight/1")
@set_option
def command(as_module: bool, program: tuple[str, ...], **options: Any) -> None:
    """Check an unmodified training script before the long run: pass, fail or not judged, with numbers.

    PROGRAM is a script, or with -m a module; everything after it is passed to it. It is run a few times for
    a few hundred steps in copies of its folder: as it is, twice, with its first batch repeated for ever, with
    zeroed inputs, and with shuffled labels. Nothing of yours is written to.

    Checked are data and labels, the loss at initialisation against chance, gradients and optimizer, whether
    one batch can be overfitted and inputs and labels matter, independence of samples, modes, determinism,
    throughput, memory and time.

    Exit code: 0 when nothing failed, 1 when something failed, 2 when the script could not be run.
    """
    from traindx.experiment.pooling import keep_preflight

    script = find_program(program, as_module)
    budget = seconds(options["time_budget"])
    checklist, outside = _checklist(script, budget, options["jobs"], options["steps"])
    keep_preflight(script, checklist)
    if options["as_json"]:
        from traindx.report.json_text import json_bytes

        print_document(json_bytes({**checklist.to_dict(), "outside": outside}))
    else:
        from traindx.report.checklist import render_checklist

        print_lines("\n".join(render_checklist(checklist, script.name, screen())) + "\n")
    if not checklist:
        raise SystemExit(1)


def _checklist(
    program: Program, limit: float, jobs: int | None, steps: int | None
) -> tuple[Checklist, dict[str, list[str]]]:
    """The checks of a program, with a line that moves while they run; what it did outside its copies."""
    from traindx.experiment.orders import threads
    from traindx.experiment.preflight.preflight import STEPS, Unflown, fly

    source, line = script_of_program(program), Moving()
    steps_done: dict[str, int] = {}

    def progress(arm: Arm, steps_of_arm: int, spent: float) -> None:
        del spent
        steps_done[arm.name] = steps_of_arm
        line.draw(", ".join(f"{name}: {count:,} steps" for name, count in list(steps_done.items())[-2:]))

    try:
        with workshop(program, limit, jobs) as shop:
            checklist = fly(
                shop,
                script=source,
                steps=steps or STEPS,
                time_budget=limit,
                threads=int(threads(shop.jobs)["OMP_NUM_THREADS"]),
                progress=progress,
            )
            return checklist, shop.listed()
    except Unflown as error:
        raise Failure(visible(str(error), 400)) from None
    finally:
        line.close()
