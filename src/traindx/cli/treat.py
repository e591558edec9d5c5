"""`traindx treat`: find the cause, try remedies, prove the best one, show the diff."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure, say
from traindx.cli._options import budget_option, jobs_option, json_option, program_command, set_option, stacked
from traindx.core.free_names import first_free
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.core.nouns import Run
    from traindx.experiment.treat.results import Treated
    from traindx.experiment.treat.treatment import Planner

_OUT = "treatment"

out_option = click.option(
    "--out", metavar="DIR", help="Where the reports go; default: treatment, or treatment-2, ..."
)
force_option = click.option("--force", is_flag=True, help="Let reports replace those in DIR.")
# How trials are run and judged, for `treat` and `try`.
trial_options = stacked(
    click.option("--steps", type=click.IntRange(1), metavar="N", help="Run the script for N steps at most."),
    click.option(
        "--seeds",
        type=click.IntRange(1, 50),
        help="Pairs of runs for the best; default: 3, 2 where a trial is long.",
    ),
    budget_option("30m"),
    click.option(
        "--metric", metavar="NAME", help="Judge by this series; default: validation, else training loss."
    ),
    jobs_option,
    click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Where trials run.",
    ),
    set_option,
    json_option("traindx/treatment/1"),
)


@program_command("Find the cause, try remedies in paired runs, prove the best, show the diff.")
@out_option
@click.option("--recording", metavar="DIR", help="Begin with this recording's diagnosis.")
@trial_options
@click.option("--only", metavar="REMEDY", help="Try this remedy only.")
@click.option("--dry-run", is_flag=True, help="Diagnose, print the plan and its cost, and stop.")
@click.option(
    "--apply", "apply_it", is_flag=True, help="Write the proven change into your files; keeps a backup."
)
@click.option("--save-model", is_flag=True, help="Save the treated model: .pt, or .keras and .h5.")
@force_option
def command(program: tuple[str, ...], as_module: bool, **options: Any) -> None:
    """Find out why a training goes wrong, try what could fix it, and prove what does.

    PROGRAM is a script, or with -m a module; everything after it is passed to it. It is run in a copy of
    the working directory: your files, checkpoints and logs stay as they are. Remedies are tried one change
    at a time, on the same seeds and data as the untouched script; the best becomes an edit of the source, and
    the edited script must show the same gain by itself.

    Exit code: 0 when nothing is wrong or a fix was proven, 1 when the problem stays, also where a proven
    change has only eased it, 2 when it could not be done.
    """
    from traindx.cli._output import check_place

    check_remedy(options["only"])
    out = folder_for(options["out"], options["force"])
    if not options["dry_run"]:
        check_place(out, "--out")
    folder = out if options["save_model"] else None
    finish(new_treatment(program, as_module, options, save_model=folder), out, options)


def check_remedy(only: str | None) -> None:
    if only is None:
        return
    from traindx.knowledge.catalogue import nearest, remedies

    if only not in remedies():
        close = [name for name in nearest(only) if name in remedies()]
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise Failure(f"there is no remedy {visible(only, 80)}.{hint} 'traindx list remedies' names them.")


def folder_for(wish: str | None, force: bool) -> Path:
    """A folder of its own; one that was asked for and holds reports is not written over."""
    if wish is not None:
        if os.path.exists(wish) and not os.path.isdir(wish):
            raise Failure(f"{visible(wish)} is a file. Give --out a folder.")
        if os.path.isdir(wish) and os.listdir(wish) and not force:
            raise Failure(
                f"{visible(wish)} is not empty. Give another folder, or --force to write over reports in it."
            )
        return Path(wish)
    return first_free(Path(_OUT))


def new_treatment(
    words: tuple[str, ...],
    as_module: bool,
    options: Mapping[str, Any],
    *,
    plan: Planner | None = None,
    healthy_too: bool = False,
    save_model: Path | None = None,
) -> Treated:
    """Run a treatment as the options of a command line say."""
    from traindx.cli._programs import find_program, script_of_program, seconds, workshop
    from traindx.cli._treating import TreatProgress
    from traindx.experiment.measure import NoSuchMetric
    from traindx.experiment.treat.request import TreatRequest
    from traindx.experiment.treat.treatment import Treatment

    program, budget = find_program(words, as_module), seconds(options["time_budget"])
    recorded, script = _recorded(options["recording"]), script_of_program(program)
    progress = TreatProgress(plan_only=options["dry_run"], quiet=options["as_json"])
    request = TreatRequest(
        options["steps"],
        options["seeds"],
        options["metric"],
        options["only"],
        options["dry_run"],
        rounds=1 if healthy_too else 3,
        healthy_too=healthy_too,
    )
    progress.doing(f"running {visible(program.name, 60)} as it is")
    try:
        with workshop(program, budget, options["jobs"], options["engine"]) as shop:
            treatment = Treatment(shop, script, program.args, request, progress, plan, save_model=save_model)
            return treatment.run(recorded)
    except NoSuchMetric as error:
        raise Failure(str(error)) from None
    finally:
        progress.close()


def _recorded(path: str | None) -> Run | None:
    if path is None:
        return None
    from traindx.engine import last_run

    try:
        run = last_run(path)
    except ValueError as error:
        raise Failure(f"--recording: {visible(str(error), 300)}") from None
    # The script runs here: what the recording names as its folder leads to no file of this user's.
    return replace(run, facts={key: value for key, value in run.facts.items() if key != "folder"})


def finish(
    treated: Treated, out: Path, options: Mapping[str, Any], good: Sequence[str] = ("healthy", "treated")
) -> None:
    """Reports, casebook, the last words, and the exit code: 0 for a good status."""
    from traindx.cli._output import print_document, print_lines, screen, writing
    from traindx.report.treatment import ending
    from traindx.report.treatment_files import patch_of, write_treatment
    from traindx.report.treatment_json import treatment_document

    if treated.status == "unclear" and treated.before is None:
        raise Failure(f"{visible(treated.summary, 400)}")
    paths: list[Path] = []
    if not options["dry_run"]:
        with writing(str(out)):
            paths = write_treatment(treated, out)
        _remember(treated, options["only"])
    if options["as_json"]:
        print_document(treatment_document(treated))
    else:
        print_lines("\n".join(ending(treated, patch_of(treated), paths, screen())) + "\n")
    if options["apply_it"]:
        from traindx.cli._apply import apply

        apply(treated)
    if treated.status not in good:
        raise SystemExit(1)


def _remember(treated: Treated, only: str | None) -> None:
    """In the casebook of this project; where it cannot be written the treatment stands all the same."""
    from traindx.experiment.casebook import add
    from traindx.experiment.pooling import keep_treatment
    from traindx.experiment.treat.casebook_entries import entries_of

    keep_treatment(treated, only)
    entries = entries_of(treated)
    if not entries:
        return
    try:
        add(entries, os.getcwd())
    except OSError as error:
        say(f"Warning: the casebook could not be written: {error.strerror}.")
