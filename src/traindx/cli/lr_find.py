"""`traindx lr-find`: which learning rates suit a training, by raising the rate step by step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure, note
from traindx.cli._options import budget_option, jobs_option, program_command
from traindx.core.free_names import first_free
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.experiment.arms import Arm
    from traindx.experiment.lr_find.answer import RangeAnswer
    from traindx.observe.program import Program

_PLOT = "lr_find"


@program_command("Find the learning rates that suit a training script.")
@click.option(
    "--steps",
    type=click.IntRange(40, 100_000),
    default=150,
    show_default=True,
    metavar="N",
    help="Optimizer steps of each ramp.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 50),
    default=3,
    show_default=True,
    metavar="N",
    help="Ramps with seeds of their own.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="N",
    help="The first of them; others repeat the test.",
)
@click.option(
    "--from", "first", type=float, metavar="LR", help="Raise the rate from here; default: found by a scout."
)
@click.option(
    "--to", "last", type=float, metavar="LR", help="Raise the rate up to here; default: found by a scout."
)
@click.option(
    "--loss", default="loss", show_default=True, metavar="NAME", help="The recorded loss to judge by."
)
@budget_option("30m")
@jobs_option
@click.option("--plot", metavar="FILE", help=f"The picture; default: {_PLOT}.png, or {_PLOT}-2.png, ...")
@click.option("--no-plot", is_flag=True, help="Draw no picture.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@click.option("--force", is_flag=True, help="Let --plot replace an existing file.")
def command(program: tuple[str, ...], as_module: bool, **options: Any) -> None:
    """Raise the learning rate of an unchanged script step by step, and say which rates suit it.

    PROGRAM is a script, or with -m a module; everything after it is passed to it. It is run in copies of
    the working directory: your files, checkpoints and logs stay as they are. The script's own schedule is
    set aside, groups of parameters keep their ratios, and an accumulated step counts as one. A scout looks
    for where the loss falls and where it rises again; then each seed walks through that part.

    The answer is a range with its uncertainty, the largest stable rate, and where the current rate lies; or
    that the curve does not support one.

    Exit code: 0 when a range was found, 1 when the curve supports none, 2 when it could not be tried.
    """
    from traindx.cli._output import check_place
    from traindx.cli._programs import find_program, seconds

    script = find_program(program, as_module)
    budget = seconds(options["time_budget"])
    span = _span(options["first"], options["last"])
    plot = None if options["no_plot"] else _plot_path(options["plot"], options["force"])
    if plot is not None:
        check_place(plot, "--plot")
    answer, notes, outside = _find(script, budget, span, options)
    _print_answer(answer, script.name, notes, plot, outside if options["as_json"] else None)
    if not answer.found:
        raise SystemExit(1)


def _span(first: float | None, last: float | None) -> tuple[float, float] | None:
    if first is None and last is None:
        return None
    if first is None or last is None:
        raise click.UsageError("--from and --to belong together: give both, or neither.")
    if not 0 < first < last < float("inf"):
        raise click.UsageError(f"--from {first:g} --to {last:g} is no range: 0 < from < to.")
    return first, last


def _plot_path(wish: str | None, force: bool) -> Path:
    """What would fail after minutes is refused before them; a name of our own is one that is free."""
    from traindx.cli._output import exists_already

    if wish is not None:
        if os.path.isdir(wish):
            raise Failure(f"{visible(wish)} is a folder. Give the name of a file.")
        if not os.path.isdir(os.path.dirname(os.path.abspath(wish))):
            raise Failure(f"{visible(wish)}: there is no such folder. Make it, or name another.")
        if os.path.exists(wish) and not force:
            raise exists_already(wish)
        return Path(wish)
    return first_free(Path(_PLOT), ".png")


def _find(
    program: Program, budget: float, span: tuple[float, float] | None, options: dict[str, Any]
) -> tuple[RangeAnswer, Sequence[str], dict[str, list[str]]]:
    from traindx.cli._programs import script_of_program, workshop
    from traindx.experiment.lr_find.scripts import CannotTest, ScriptWalk, examined
    from traindx.experiment.lr_find.search import RangeRequest

    status = Progress()
    request = RangeRequest(options["steps"], options["seeds"], options["seed"], span)
    try:
        with workshop(program, budget, options["jobs"]) as shop:
            walk = ScriptWalk(shop, status.begin, status.beat, options["loss"])
            return examined(walk, request, script_of_program(program)), walk.notes, shop.listed()
    except CannotTest as error:
        raise Failure(visible(str(error), 400)) from None
    finally:
        status.close()


class Progress:
    """One moving line on a terminal: what runs, how far it is."""

    def __init__(self) -> None:
        from traindx.cli._progress_line import Moving

        self._moving = Moving()
        self._arm_label = ""
        self._arms: dict[str, tuple[int, int]] = {}

    def begin(self, label: str, arms: Sequence[Arm]) -> None:
        self._arm_label = label
        self._arms = {arm.name: (0, arm.steps or 0) for arm in arms}
        self._draw()

    def beat(self, arm: Arm, steps: int, seconds: float) -> None:
        del seconds
        self._arms[arm.name] = (steps, arm.steps or 0)
        self._draw()

    def close(self) -> None:
        self._moving.close()

    def _draw(self) -> None:
        steps_done, of = (sum(pair[at] for pair in self._arms.values()) for at in (0, 1))
        self._moving.draw(f"{self._arm_label}: {steps_done:,} of {of:,} steps")


def _print_answer(
    answer: RangeAnswer,
    name: str,
    notes: Sequence[str],
    plot: Path | None,
    outside: dict[str, list[str]] | None,
) -> None:
    """The answer; as JSON, with what the script did outside its copies, where that is given."""
    from traindx.cli._output import print_document, print_lines, screen, writing

    if plot is not None and answer.curve is not None:
        from traindx.report.lr_range import write_range_plot

        with writing(str(plot)):
            write_range_plot(answer, plot, name=name)
    if outside is not None:
        from traindx.report.lr_json import range_document

        print_document(range_document(answer, name, notes, outside))
    else:
        from traindx.report.lr_range import render_range

        print_lines("\n".join(render_range(answer, name, screen(), notes)) + "\n")
    if plot is not None and answer.curve is not None:
        note(f"Wrote {plot!s}")
