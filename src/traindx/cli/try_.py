"""`traindx try`: one remedy on one script, beside the untouched script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure
from traindx.cli.treat import check_remedy, finish, folder_for, new_treatment

if TYPE_CHECKING:
    from traindx.core import Diagnosis
    from traindx.script.source import Script
    from traindx.trial.candidates import Course


@click.command(
    short_help="Try one remedy on a script, in paired runs.",
    context_settings={"allow_interspersed_args": False},
    options_metavar="[OPTIONS]",
)
@click.option("-m", "as_module", is_flag=True, help="The program is a module, as in 'python -m'.")
@click.option("--out", metavar="DIR", help="Where the reports go; default: treatment, or treatment-2, ...")
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Run the script for N steps at most.")
@click.option(
    "--seeds",
    type=click.IntRange(1, 50),
    help="Pairs of runs for the best; default: 3, 2 where a trial is long.",
)
@click.option(
    "--time-budget", metavar="TIME", default="30m", show_default=True, help="For everything: 90s, 10m, 2h."
)
@click.option(
    "--metric", metavar="NAME", help="Judge by this series; default: validation, else training loss."
)
@click.option("--jobs", type=click.IntRange(1, 64), help="Runs side by side; default: one a core.")
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where trials run.",
)
@click.option("--force", is_flag=True, help="Let reports replace those in DIR.")
@click.argument("remedy")
@click.argument("program", metavar="PROGRAM [ARGS]...", nargs=-1, type=click.UNPROCESSED, required=True)
def command(remedy: str, program: tuple[str, ...], as_module: bool, **options: Any) -> None:
    """Try REMEDY on a script, on the same seeds and data as the untouched script, and judge it.

    'traindx list remedies' names them. The script is run in copies of the working directory; nothing of
    yours is changed. A remedy that helps is shown as a diff, and the edited script is run as it is.

    Exit code: 0 when it helped, 1 when it did not, 2 when it could not be tried.
    """
    check_remedy(remedy)
    out = folder_for(options["out"], options["force"])

    def plan(diagnosis: Diagnosis, script: Script | None) -> Sequence[Course]:
        from traindx.trial.candidates import single

        course = single(remedy, diagnosis, script)
        if not (course.candidates or course.told):
            raise Failure(
                f"{remedy} cannot be tried by itself here: 'traindx explain {remedy}' says what to do."
            )
        return [course]

    asked = {"recording": None, "only": remedy, "dry_run": False, "apply_it": False}
    treated = new_treatment(program, as_module, {**options, **asked}, plan=plan, healthy_too=True)
    finish(treated, out, {**options, **asked})
