"""`traindx diagnose`: what is wrong with a training, how surely, and what to do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from traindx.cli import Failure, say
from traindx.cli._options import map_option, set_option
from traindx.cli._output import (
    cannot_write,
    check_reports,
    exists_already,
    not_read,
    print_document,
    print_lines,
    printing,
    refuse_logs,
    screen,
    write_text,
)
from traindx.report.text import count, visible

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis, Reading


@click.command(short_help="Report what is wrong with training runs, and what to do.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "-a",
    "--all",
    "everything",
    is_flag=True,
    help="Everything: all evidence, causes and checks; each run of several.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (schema traindx/diagnosis/1).")
@click.option("--md", "md_out", metavar="FILE", help="Write a Markdown report; '-' prints it.")
@click.option("--html", "html_out", metavar="FILE", help="Write one self-contained page with live curves.")
@click.option(
    "--plots", "plots_folder", metavar="DIR", help="Write PNGs: curves, and of a recording its inside."
)
@click.option("--script", metavar="FILE", help="Read the training script too: lines are named.")
@click.option("--force", is_flag=True, help="Let --md, --html and --plots replace existing files.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when a problem was found.")
@click.option(
    "--jobs", metavar="N", type=click.IntRange(1), help="Processes for many runs; default: all cores."
)
@set_option
@map_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    everything: bool,
    as_json: bool,
    md_out: str | None,
    html_out: str | None,
    plots_folder: str | None,
    script: str | None,
    force: bool,
    exit_zero: bool,
    jobs: int | None,
    maps: tuple[str, ...],
) -> None:
    """Say what is wrong with training runs, how surely, on what evidence, and what to do.

    PATH is a log, a run folder, a folder of runs, or '-' for standard input, in any format traindx
    reads. One run is answered on one screen, several are a table, worst first; --all shows everything.

    Exit code: 0 when nothing calls for action, 1 when a run has a problem of medium severity or
    above, 2 when it could not be done.
    """
    files = check_reports(as_json, md_out, html_out, force)
    if script is not None:
        _refuse_unreadable(script)
    reading = _read(paths, maps, as_json)
    for out in files:
        refuse_logs(out, reading.runs)
    from traindx.cli._cores import diagnose_runs

    diagnoses = diagnose_runs(reading.runs, jobs, script)
    _print(diagnoses, reading, everything=everything, as_json=as_json, markdown=md_out == "-")
    _save(diagnoses, md_out if md_out != "-" else None, html_out, plots_folder, force)
    if not exit_zero and any(diagnosis.verdict == "problem" for diagnosis in diagnoses):
        ctx.exit(1)


def _refuse_unreadable(script: str) -> None:
    from traindx.core.nouns import Unreadable
    from traindx.source import read_script

    try:
        read_script(script)
    except Unreadable as error:
        raise Failure(f"{visible(str(error), 300)}. Give --script the Python file of the training.") from None


def _read(paths: tuple[str, ...], maps: tuple[str, ...], as_json: bool) -> Reading:
    from traindx.cli.inspect_ import read_runs

    reading = read_runs(paths, maps)
    if not reading.runs:
        from traindx.cli._errors import nothing_read

        if as_json:
            from traindx.report.diagnosis_json import diagnosis_document

            print_document(diagnosis_document([], reading.skipped))
        raise nothing_read(paths, reading.skipped)
    for note in reading.skipped:
        if note.path in paths:
            say(f"Warning: {visible(note.path, 200)}: {visible(note.text, 200)}")
    return reading


def _print(
    diagnoses: Sequence[Diagnosis], reading: Reading, *, everything: bool, as_json: bool, markdown: bool
) -> None:
    if as_json:
        from traindx.report.diagnosis_json import diagnosis_document

        print_document(diagnosis_document(diagnoses, reading.skipped))
    elif markdown:
        from traindx.report.diagnosis import markdown as page

        print_lines(page(diagnoses))
    else:
        print_lines("\n".join(_lines(diagnoses, reading, everything)) + "\n")
    with printing():
        sys.stdout.flush()


def _lines(diagnoses: Sequence[Diagnosis], reading: Reading, everything: bool) -> list[str]:
    from traindx.cli._casebook_hint import remembered
    from traindx.report.diagnosis import render_diagnosis

    out = screen()
    lines: list[str] = []
    shown = list(diagnoses)
    if len(diagnoses) > 1:
        from traindx.report.triage import triage
        from traindx.report.wording import worst_first

        lines += triage(diagnoses, out, everything=everything)
        shown = worst_first(diagnoses) if everything else []
    for diagnosis in shown:
        lines += ["", ""] if lines else []
        lines += render_diagnosis(diagnosis, everything=everything and len(diagnoses) == 1, screen=out)
        if len(diagnoses) == 1:
            lines += remembered(diagnosis, out)
    return lines + not_read(reading, out)


def _save(
    diagnoses: Sequence[Diagnosis], md: str | None, html: str | None, plots: str | None, force: bool
) -> None:
    from traindx.report.diagnosis import html_document, markdown

    if md is not None:
        write_text(md, markdown(diagnoses), force=force)
    if html is not None:
        write_text(html, html_document(diagnoses), force=force)
    if plots is not None:
        _save_plots(diagnoses, plots, force)


def _save_plots(diagnoses: Sequence[Diagnosis], folder: str, force: bool) -> None:
    """Drawn elsewhere first: what is there already must not be lost to a half-done set."""
    import shutil
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from traindx.report.diagnosis_plots import write_diagnosis_plots

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as scratch:
            drawn = write_diagnosis_plots(diagnoses, Path(scratch))
            targets = [Path(folder) / path.relative_to(scratch) for path in drawn]
            taken = next((target for target in targets if target.exists() and not force), None)
            if taken is not None:
                raise exists_already(str(taken))
            for path, target in zip(drawn, targets, strict=True):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    except OSError as error:
        raise cannot_write(folder, error) from None
    say(f"Wrote {count(len(drawn), 'PNG')} to {folder}")
