"""`traindx prove`: is this change better?"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure, note
from traindx.cli._options import budget_option, jobs_option, json_option, program_command
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.experiment.prove.results import Proved
    from traindx.experiment.prove.sequential import Rule
    from traindx.experiment.prove.versions import Version
    from traindx.observe.program import Program
    from traindx.source.script import Script


@program_command("Is a change better? Both versions in paired runs.")
@click.option("--with", "others", multiple=True, metavar="FILE", help="Another version of the script.")
@click.option("--patch", "patches", multiple=True, metavar="DIFF", help="A unified diff.")
@click.option("--git", "commits", metavar="A..B", help="Two commits of this repository.")
@click.option("--base", metavar="REV", help="A commit against the files as they are now.")
@click.option("--args", "arguments", multiple=True, metavar="WORDS", help="Other arguments: '--lr 0.001'.")
@click.option(
    "--set", "settings", multiple=True, metavar="KNOB=VALUE[,VALUE...]", help="A setting: lr=1e-4,3e-4."
)
@click.option("--file", "data", multiple=True, metavar="OLD=NEW", help="Another file: train.csv=clean.csv.")
@click.option(
    "--drop", "rows", multiple=True, metavar="RULE", help="Rows of .csv files left out: 'site == 2'."
)
@click.option(
    "--metric", metavar="NAME", help="Judge by this series; default: validation, else training loss."
)
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Run both for N steps at most.")
@click.option("--quick", is_flag=True, help="A first answer: 2 or 3 pairs.")
@click.option("--sure", is_flag=True, help="For a publication: 6 to 16 pairs, 1 % risk of a wrong sign.")
@budget_option("30m")
@jobs_option
@json_option("traindx/proof/1")
@click.option("--md", metavar="FILE", help="Write the answer as Markdown.")
@click.option("--plot", metavar="FILE", help="Draw the curves of both versions.")
@click.option("--force", is_flag=True, help="Let --md and --plot replace files.")
def command(program: tuple[str, ...], as_module: bool, **options: Any) -> None:
    """Say whether a change makes a training better: better, worse, no difference or cannot tell.

    PROGRAM is a script, or with -m a module; everything after it is passed to it. Both versions run in copies
    of the working directory on the same seeds, in pairs, until the answer is clear or the time is up; nothing
    of yours is changed. Several candidates are a race: those that fall behind stop early.

    A change that only looks better is found out: it is compared what the loss computes, which samples both
    train on and are judged on, how long they train, and whether the training differs at all.

    Exit code: 0 when it is better, 1 when it is not, 2 when it could not be compared.
    """
    from traindx.cli._programs import find_program, script_of_program, seconds
    from traindx.cli._proving import race

    found_program = find_program(program, as_module)
    budget, rule = seconds(options["time_budget"]), _rule(options)
    for name in ("md", "plot"):
        _check_target(options[name], f"--{name}", options["force"])
    with tempfile.TemporaryDirectory(prefix="traindx-versions-") as store:
        script = script_of_program(found_program)
        before, candidates = _versions(found_program, script, options, Path(store))
        proved = race(found_program, script, before, candidates, budget, rule, options)
    _report(proved, found_program, options)
    if proved.best.answer != "better":
        raise SystemExit(1)


def _rule(options: Mapping[str, Any]) -> Rule:
    from traindx.experiment.prove import sequential

    if options["quick"] and options["sure"]:
        raise click.UsageError("--quick and --sure exclude each other.")
    return sequential.QUICK if options["quick"] else sequential.SURE if options["sure"] else sequential.USUAL


def _check_target(wish: str | None, name: str, force: bool) -> None:
    from traindx.cli._output import check_place, exists_already

    if wish is None:
        return
    check_place(Path(wish), name)
    if os.path.exists(wish) and not force:
        raise exists_already(wish)


def _versions(
    program: Program, script: Script | None, options: Mapping[str, Any], store: Path
) -> tuple[Version, list[Version]]:
    """What is compared: the version before, and the candidates."""
    from traindx.experiment.prove.versions import NoVersion, Version

    try:
        before, candidates = Version("as it is"), list(_candidates(program, script, options, store))
        if options["commits"] or options["base"]:
            before, after = _from_git(options, store)
            if candidates:
                raise NoVersion("--git and --base compare two commits: give no other version with them.")
            candidates = [after]
    except NoVersion as error:
        raise Failure(visible(str(error), 400)) from None
    if not candidates:
        raise click.UsageError(
            "nothing to compare with. Give a change: --with fixed.py, --patch fix.diff, --base main, "
            "--args '--lr 0.001', --set lr=1e-3, --file old.csv=new.csv or --drop 'site == 2'."
        )
    names = [candidate.name for candidate in candidates]
    if len(set(names)) < len(names):
        raise Failure("two versions have the same name: give each change once, in files of different names.")
    return before, candidates


def _candidates(
    program: Program, script: Script | None, options: Mapping[str, Any], store: Path
) -> Iterator[Version]:
    from traindx.experiment.prove import rows, versions

    here = os.getcwd()
    for path in options["others"]:
        if program.path is None:
            raise versions.NoVersion("--with needs a script, not a module: give --patch or --base.")
        yield versions.as_file(program.path, path)
    yield from (versions.as_patch(path, here) for path in options["patches"])
    yield from (versions.as_arguments(program.args, words) for words in options["arguments"])
    for setting in options["settings"]:
        yield from versions.as_settings(setting, script, program.args)
    yield from (versions.as_data(pair, here) for pair in options["data"])
    yield from (rows.without_rows(rule, here, store) for rule in options["rows"])


def _from_git(options: Mapping[str, Any], store: Path) -> tuple[Version, Version]:
    from traindx.experiment.prove.from_git import between
    from traindx.experiment.prove.versions import NoVersion

    if options["commits"] and options["base"]:
        raise NoVersion("--git and --base exclude each other.")
    if options["commits"] and ".." not in options["commits"]:
        raise NoVersion(
            f"--git {options['commits']} is not of the form A..B; --base REV compares with the files."
        )
    return between(options["commits"] or options["base"], os.getcwd(), store)


def _report(proved: Proved, program: Program, options: Mapping[str, Any]) -> None:
    from traindx.cli._output import print_document, print_lines, screen, writing
    from traindx.report.json_text import json_document
    from traindx.report.proof import proof_blocks, proof_dict, proof_document
    from traindx.report.to_markdown import markdown
    from traindx.report.to_terminal import lines

    if options["as_json"]:
        print_document(json_document(proof_dict(proved, program.typed)))
    else:
        print_lines("\n".join(["", *lines(proof_blocks(proved), screen())]) + "\n")
    with writing(options["md"] or options["plot"]):
        if options["md"] is not None:
            Path(options["md"]).write_text(markdown(proof_document(proved, program.typed)), encoding="utf-8")
            note(f"Wrote {visible(options['md'])}")
        if options["plot"] is not None:
            from traindx.experiment.prove.results import compared_runs
            from traindx.report.comparison_plot import write_comparison_plot

            write_comparison_plot(compared_runs(proved), Path(options["plot"]), title=program.typed)
            note(f"Wrote {visible(options['plot'])}")
