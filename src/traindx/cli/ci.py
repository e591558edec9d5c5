"""`traindx ci`: what a pull request does to a training."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure, say
from traindx.cli._options import budget_option, jobs_option, json_option
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis
    from traindx.evidence.lint import Linted
    from traindx.experiment.prove.results import Proved
    from traindx.experiment.prove.versions import Version
    from traindx.observe.program import Program
    from traindx.report.pull_request import Checked
    from traindx.source.script import Script

_WORKFLOW = Path(__file__).parent / "_workflow.yml"


def _default_base() -> str:
    """What GitHub Actions says a pull request is for."""
    return f"origin/{os.environ.get('GITHUB_BASE_REF') or 'main'}"


@click.command(
    short_help="Train a pull request against its base, for its reviewers.",
    context_settings={"allow_interspersed_args": False},
    options_metavar="[OPTIONS]",
)
@click.option("-m", "as_module", is_flag=True, help="The program is a module, as in 'python -m'.")
@click.option("--base", metavar="REV", help="What to compare with; default: the base of the pull request.")
@click.option(
    "--metric", metavar="NAME", help="Judge by this series; default: validation, else training loss."
)
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Run both for N steps at most.")
@budget_option("10m")
@jobs_option
@click.option("--md", metavar="FILE", help="Write the comment there instead of printing it.")
@json_option("traindx/ci/1")
@click.option(
    "--annotations/--no-annotations",
    default=None,
    help="Mark lines in GitHub; default: where Actions run it.",
)
@click.option("--workflow", is_flag=True, help="Print a workflow for GitHub Actions, and stop.")
@click.argument("program", metavar="PROGRAM [ARGS]...", nargs=-1, type=click.UNPROCESSED)
def command(program: tuple[str, ...], as_module: bool, **options: Any) -> None:
    """Train what is checked out against its base in 2 or 3 pairs, and say what the change does.

    PROGRAM is a script, or with -m a module; everything after it is passed to it. Both versions run in copies
    of the working directory, as 'traindx prove --quick --base REV' runs them. The comment holds the answer
    with its numbers, the problems of the new version and what 'traindx lint' reads in its source; in GitHub
    Actions both are also marked at their lines.

    Exit code: 0 when the training is no worse and has no new problem, 1 when it is worse or has one, 2 when
    it could not be compared.
    """
    from traindx.cli._programs import find_program, script_of_program, seconds

    if options["workflow"]:
        _print_workflow(program, as_module)
        return
    if not program:
        raise click.UsageError("name the training script, as in 'traindx ci train.py'; or give --workflow.")
    if options["md"] is not None:
        from traindx.cli._output import check_place

        check_place(Path(options["md"]), "--md")
    found_program, base = find_program(program, as_module), options["base"] or _default_base()
    script = script_of_program(found_program)
    proved = _proved(found_program, script, base, seconds(options["time_budget"]), options)
    checked = _checked(found_program, script, base, proved)
    _write(checked, options)
    if checked.failed:
        raise SystemExit(1)


def _print_workflow(program: tuple[str, ...], as_module: bool) -> None:
    from traindx.cli._output import print_lines

    words = [*(["-m"] if as_module else []), *(program or ("train.py",))]
    needed = "-r requirements.txt" if os.path.exists("requirements.txt") else "torch"
    text = _WORKFLOW.read_text(encoding="utf-8")
    print_lines(text.replace("@PROGRAM@", shlex.join(words)).replace("@REQUIREMENTS@", needed))


def _proved(
    program: Program, script: Script | None, base: str, budget: float, options: dict[str, Any]
) -> Proved | None:
    """Both versions in pairs; None where they do not differ."""
    from traindx.cli._proving import race
    from traindx.experiment.prove.from_git import between
    from traindx.experiment.prove.sequential import QUICK
    from traindx.experiment.prove.versions import NoVersion, SameVersion

    with tempfile.TemporaryDirectory(prefix="traindx-versions-") as store:
        try:
            before, after = between(base, os.getcwd(), Path(store))
        except SameVersion:
            return None
        except NoVersion as error:
            hint = "Give --base, and fetch it first (actions/checkout: fetch-depth: 0)."
            raise Failure(f"{visible(base, 80)}: {visible(str(error), 300)} {hint}") from None
        candidates: list[Version] = [after]
        return race(program, script, before, candidates, budget, QUICK, options)


def _checked(program: Program, script: Script | None, base: str, proved: Proved | None) -> Checked:
    from traindx.experiment.prove.from_git import root_of
    from traindx.report.pull_request import Checked, noted_lines

    diagnosis = _diagnosis(proved, script)
    new = proved.best.new_problems if proved is not None else ()
    annotations = noted_lines(diagnosis, new, _linted(program), root_of(os.getcwd()))
    return Checked(base, program.typed, proved, diagnosis, tuple(annotations))


def _diagnosis(proved: Proved | None, script: Script | None) -> Diagnosis | None:
    """That of the new version's first run."""
    from traindx.experiment.arm_diagnosis import examined

    run = (
        next((outcome.run for outcome in proved.best.outcomes if outcome.run is not None), None)
        if proved
        else None
    )
    return examined(run, script) if run is not None else None


def _linted(program: Program) -> Linted | None:
    from traindx.core.nouns import Unreadable
    from traindx.engine import lint

    try:
        return lint(program.path) if program.path is not None else None
    except Unreadable:
        return None


def _write(checked: Checked, options: dict[str, Any]) -> None:
    from traindx.cli._output import print_document, print_lines, writing
    from traindx.report.json_text import json_document
    from traindx.report.pull_request import checked_dict, comment

    mark = options["annotations"]
    if mark is None:
        mark = os.environ.get("GITHUB_ACTIONS") == "true" and not options["as_json"]
    text = comment(checked)
    if options["as_json"]:
        print_document(json_document(checked_dict(checked)))
    elif options["md"] is None:
        print_lines(text)
    if mark:
        print_lines("".join(f"{annotation.command}\n" for annotation in checked.annotations))
    if options["md"] is not None:
        with writing(options["md"]):
            Path(options["md"]).write_text(text, encoding="utf-8")
        say(f"Wrote {visible(options['md'])}")
