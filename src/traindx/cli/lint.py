"""`traindx lint`: what is wrong with a training script, read without running it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from traindx.cli import Failure, note, say
from traindx.cli._options import json_option, set_option
from traindx.cli._output import print_document, print_lines, screen, writing
from traindx.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traindx.core.settings import Thresholds
    from traindx.evidence.lint import Linted


@click.command(short_help="Find mistakes in training scripts without running them.")
@click.argument("paths", metavar="FILE...|DIR...", nargs=-1, required=True)
@click.option("--fix", is_flag=True, help="Make the edits that are safe; show the others.")
@json_option("traindx/diagnosis/1")
@click.option("--sarif", "sarif_out", metavar="FILE", help="Write SARIF 2.1.0; '-' prints it.")
@set_option
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when something was found.")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    fix: bool,
    as_json: bool,
    sarif_out: str | None,
    exit_zero: bool,
) -> None:
    """Read training scripts (PyTorch, Keras) without running them, and say what is wrong, where and why.

    Modules of its own folder that a script imports are read with it. A comment "# traindx: ignore[ID]" on
    a line silences the finding of that name there, "# traindx: ignore" all of them.

    Exit code: 0 when nothing calls for action, 1 when something of medium severity or above was found,
    2 when it could not be done.
    """
    if as_json and sarif_out == "-":
        raise click.UsageError("--json and --sarif - both print their result; give --sarif a file name.")
    linted, unread = _lint(paths, fix)
    if as_json:
        _print_json(linted, unread)
    elif sarif_out != "-":
        from traindx.report.lint import render_lint

        print_lines("\n".join(render_lint(linted, len(unread), screen())) + "\n")
    if sarif_out is not None:
        _write_sarif(linted, sarif_out)
    if not exit_zero and any(script.calls_for_action for script in linted):
        ctx.exit(1)


def _lint(paths: Sequence[str], fix: bool) -> tuple[list[Linted], list[tuple[str, str]]]:
    from traindx.core.nouns import Unreadable
    from traindx.engine import thresholds_in_force
    from traindx.evidence.lint import lint_all

    thresholds = thresholds_in_force()
    try:
        linted, unread = lint_all(paths, thresholds)
        if fix:
            fixed = _fix([script.path for script in linted if script.findings], thresholds)
            linted = lint_all([script.path for script in linted], thresholds)[0] if fixed else linted
    except Unreadable as error:
        raise Failure(f"{visible(str(error), 300)}. Give a Python training script or a folder.") from None
    if not linted and not unread:
        where = ", ".join(visible(path, 60) for path in paths[:3])
        raise Failure(f"{where}: no Python file in it. Give a Python training script or a folder.")
    for path, why in unread:
        say(f"Warning: {visible(path, 200)}: {visible(why, 200)}")
    return linted, unread


def _fix(paths: Sequence[str], thresholds: Thresholds) -> int:
    from traindx.evidence.lint import fix

    fixed = 0
    for path in paths:
        with writing(path):
            fixed_in_file = fix(path, thresholds)
        fixed += fixed_in_file
        if fixed_in_file:
            say(f"Fixed {path}: {fixed_in_file} of what was found.")
    return fixed


def _print_json(linted: Sequence[Linted], unread: Sequence[tuple[str, str]]) -> None:
    from traindx.core.nouns import Note
    from traindx.engine import diagnose_script
    from traindx.report.diagnosis_json import diagnosis_document

    diagnoses = [diagnose_script(script.path) for script in linted]
    print_document(diagnosis_document(diagnoses, [Note(path, why) for path, why in unread]))


def _write_sarif(linted: Sequence[Linted], out: str) -> None:
    from traindx.report.sarif import sarif_document

    document = sarif_document([finding for script in linted for finding in script.findings])
    if out == "-":
        print_document(document)
        return
    if any(os.path.realpath(out) == os.path.realpath(script.path) for script in linted):
        raise Failure(f"{visible(out)} is one of the scripts that were read. Choose another name.")
    with writing(out), open(out, "wb") as file:
        file.write(document + b"\n")
    note(f"Wrote {out}")
