"""`traindx compare`: runs side by side."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from traindx.cli import Failure, say
from traindx.cli._baseline import find_baseline, sharpened
from traindx.cli._options import map_option, set_option
from traindx.cli._output import (
    cannot_write,
    check_reports,
    not_read,
    print_document,
    print_lines,
    printing,
    refuse_logs,
    screen,
    write_text,
)
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.comparison import Comparison
    from traindx.comparison.baseline import Sharpened
    from traindx.core.nouns import Reading


@click.command(short_help="Compare training runs: what differs, which is better.")
@click.argument("paths", metavar="RUN...", nargs=-1, required=True)
@click.option("-a", "--all", "everything", is_flag=True, help="Every run and difference in full.")
@click.option("--metric", metavar="NAME", help="Compare by this metric; default: the best that is shared.")
@click.option("--target", metavar="VALUE", type=float, help="A value of the metric to race for.")
@click.option("--baseline", metavar="GOOD", help="Diagnose the runs by this reference run.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (schema traindx/comparison/1).")
@click.option("--md", "md_out", metavar="FILE", help="Write a Markdown report; '-' prints it.")
@click.option("--html", "html_out", metavar="FILE", help="Write one self-contained page with linked curves.")
@click.option("--plots", "plots_folder", metavar="DIR", help="Write training_comparison.png there.")
@click.option("--force", is_flag=True, help="Let --md, --html and --plots replace existing files.")
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
    metric: str | None,
    target: float | None,
    baseline: str | None,
    as_json: bool,
    md_out: str | None,
    html_out: str | None,
    plots_folder: str | None,
    force: bool,
    jobs: int | None,
    maps: tuple[str, ...],
) -> None:
    """Lay training runs side by side: what differs, which is better and how surely, where they part.

    RUN is a log, a run folder or a folder of runs, in any mix of formats. Runs that differ only in the
    seed count as repeats. Six runs or more with different settings are reported as a sweep too: what
    matters, good learning rates, what to try next. Beside each score stands the run's health.

    With --baseline GOOD, the others are diagnosed beside that run: what it did at the same steps, and
    which settings and lines differ, are weighed as evidence.

    Exit code: 0 when the runs were compared, 2 when they could not be; with --baseline 1 when a run has
    a problem of medium severity or above.
    """
    outs = _check(as_json, md_out, html_out, plots_folder, force)
    reading = _read(paths if baseline is None else (baseline, *paths), maps)
    good = None if baseline is None else find_baseline(baseline, reading, maps)
    for out in outs:
        refuse_logs(out, reading.runs)
    told = _compared(reading, jobs, metric, target)
    made = [] if good is None else sharpened(told, good)
    report = Report(told, made, reading, everything)
    _print(report, as_json=as_json, markdown=md_out == "-")
    _save(report, md_out if md_out != "-" else None, html_out, plots_folder, force)
    if any(one.diagnosis.verdict == "problem" for one in made):
        ctx.exit(1)


@dataclass(frozen=True)
class Report:
    """What is to be told: the comparison, with a baseline the sharpened diagnoses, what was not read."""

    told: Comparison
    sharpened: Sequence[Sharpened]
    reading: Reading
    everything: bool

    def markdown(self) -> str:
        from traindx.report.comparison import comparison_markdown

        return comparison_markdown(self.told, self.sharpened)

    def html(self) -> str:
        from traindx.report.comparison import comparison_html

        return comparison_html(self.told, self.sharpened)

    def lines(self) -> list[str]:
        from traindx.report.comparison import render_comparison

        out = screen()
        shown = render_comparison(self.told, everything=self.everything, screen=out, sharpened=self.sharpened)
        return shown + not_read(self.reading, out)


def _check(as_json: bool, md: str | None, html: str | None, plots: str | None, force: bool) -> Sequence[str]:
    """What will be written, refused before the work is done."""
    from traindx.report.side_by_side import COMPARISON_PLOT

    plot = [os.path.join(plots, COMPARISON_PLOT)] if plots is not None else []
    return check_reports(as_json, md, html, force, *plot)


def _read(paths: tuple[str, ...], maps: tuple[str, ...]) -> Reading:
    from traindx.cli.inspect_ import read_runs

    reading = read_runs(paths, maps)
    if not reading.runs:
        from traindx.cli._errors import nothing_read

        raise nothing_read(paths, reading.skipped)
    for note in reading.skipped:
        if note.path in paths:
            say(f"Warning: {visible(note.path, 200)}: {visible(note.text, 200)}")
    if len(reading.runs) == 1:
        raise Failure(_only_one(paths, reading))
    return reading


def _only_one(paths: tuple[str, ...], reading: Reading) -> str:
    name = visible(reading.runs[0].name, 120)
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        return f"the same run was given twice ({name}): compare needs two different ones."
    copies = [note for note in reading.runs[0].notes if "counted once" in note.text]
    if copies:
        return (
            f"{visible(copies[0].path, 120)} and {name} hold the same run, or one the other's beginning: "
            "compare needs two different ones."
        )
    return (
        f"only one run was found ({name}): compare needs two or more. Give another run, or a folder of runs."
    )


def _compared(
    reading: Reading,
    jobs: int | None,
    metric: str | None,
    target: float | None,
) -> Comparison:
    from traindx.cli._cores import diagnose_runs
    from traindx.comparison import NothingShared, TooFew, compare, subjects

    diagnoses = diagnose_runs(reading.runs, jobs)
    try:
        return compare(subjects(reading.runs, diagnoses), metric=metric, target=target)
    except (NothingShared, TooFew) as error:
        raise Failure(visible(str(error), 600)) from None


def _print(report: Report, *, as_json: bool, markdown: bool) -> None:
    if as_json:
        from traindx.report.comparison_json import comparison_document

        diagnoses = [one.diagnosis for one in report.sharpened]
        print_document(comparison_document(report.told, report.reading.skipped, diagnoses))
    elif markdown:
        print_lines(report.markdown())
    else:
        print_lines("\n".join(report.lines()) + "\n")
    with printing():
        sys.stdout.flush()


def _save(report: Report, md: str | None, html: str | None, plots: str | None, force: bool) -> None:
    if md is not None:
        write_text(md, report.markdown(), force=force)
    if html is not None:
        write_text(html, report.html(), force=force)
    if plots is not None:
        from traindx.report.comparison_plot import write_comparison_plot
        from traindx.report.side_by_side import COMPARISON_PLOT

        path = Path(plots) / COMPARISON_PLOT
        told = report.told
        groups = {
            told.configurations[one.configuration].name: [
                told.runs[number].run for number in told.configurations[one.configuration].runs
            ]
            for one in told.ranking
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_comparison_plot(groups, path)
        except OSError as error:
            raise cannot_write(str(path), error) from None
        say(f"Wrote {path!s}")
