"""`traindx compare`: runs side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure
from traindx.cli._baseline import find_baseline, sharpened
from traindx.cli._reports import Outputs, read_for_report, report_options
from traindx.report.text import visible

if TYPE_CHECKING:
    from pathlib import Path

    from traindx.comparison.baseline import Sharpened
    from traindx.comparison.compare import Comparison
    from traindx.core.nouns import Reading
    from traindx.report.layout import Screen


@click.command(short_help="Compare training runs: what differs, which is better.")
@click.argument("paths", metavar="RUN...", nargs=-1, required=True)
@click.option("-a", "--all", "everything", is_flag=True, help="Every run and difference in full.")
@click.option("--metric", metavar="NAME", help="Compare by this metric; default: the best that is shared.")
@click.option("--target", metavar="VALUE", type=float, help="A value of the metric to race for.")
@click.option("--baseline", metavar="GOOD", help="Diagnose the runs by this reference run.")
@report_options("traindx/comparison/1", "linked", "Write training_comparison.png there.")
def command(paths: tuple[str, ...], maps: tuple[str, ...], **options: Any) -> None:
    """Lay training runs side by side: what differs, which is better and how surely, where they part.

    RUN is a log, a run folder or a folder of runs, in any mix of formats. Runs that differ only in the
    seed count as repeats. Six runs or more with different settings are reported as a sweep too: what
    matters, good learning rates, what to try next. Beside each score stands the run's health.

    With --baseline GOOD, the others are diagnosed beside that run: what it did at the same steps, and
    which settings and lines differ, are weighed as evidence.

    Exit code: 0 when the runs were compared, 2 when they could not be; with --baseline 1 when a run has
    a problem of medium severity or above.
    """
    from traindx.report.side_by_side import COMPARISON_PLOT

    outputs, baseline = Outputs.checked(options, COMPARISON_PLOT), options["baseline"]
    paths = paths if baseline is None else (baseline, *paths)
    reading = read_for_report(paths, maps)
    if len(reading.runs) == 1:
        raise Failure(_only_one(paths, reading))
    good = None if baseline is None else find_baseline(baseline, reading, maps)
    outputs.refuse_logs(reading.runs)
    comparison = _compared(reading, options)
    diagnoses = [] if good is None else sharpened(comparison, good)
    outputs.write(ComparisonReport(comparison, diagnoses, reading, options["everything"]))
    if any(sharper.diagnosis.verdict == "problem" for sharper in diagnoses):
        raise SystemExit(1)


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


def _compared(reading: Reading, options: dict[str, Any]) -> Comparison:
    from traindx.cli._cores import diagnose_runs
    from traindx.comparison.compare import TooFew, compare
    from traindx.comparison.metric import NothingShared
    from traindx.comparison.subjects import subjects

    runs = subjects(reading.runs, diagnose_runs(reading.runs, options["jobs"]))
    try:
        return compare(runs, metric=options["metric"], target=options["target"])
    except (NothingShared, TooFew) as error:
        raise Failure(visible(str(error), 600)) from None


@dataclass(frozen=True)
class ComparisonReport:
    """A comparison in every form, with the diagnoses that a baseline sharpened."""

    comparison: Comparison
    sharpened: Sequence[Sharpened]
    reading: Reading
    everything: bool

    def lines(self, out: Screen) -> list[str]:
        from traindx.report.comparison import render_comparison

        return render_comparison(
            self.comparison, everything=self.everything, screen=out, sharpened=self.sharpened
        )

    def markdown(self) -> str:
        from traindx.report.comparison import comparison_markdown

        return comparison_markdown(self.comparison, self.sharpened)

    def html(self) -> str:
        from traindx.report.comparison import comparison_html

        return comparison_html(self.comparison, self.sharpened)

    def document(self) -> bytes:
        from traindx.report.comparison_json import comparison_document

        diagnoses = [sharper.diagnosis for sharper in self.sharpened]
        return comparison_document(self.comparison, self.reading.skipped, diagnoses)

    def plots(self, folder: Path) -> Sequence[Path]:
        from traindx.report.comparison_plot import write_comparison_plot
        from traindx.report.side_by_side import COMPARISON_PLOT

        write_comparison_plot(self.comparison.groups(), folder / COMPARISON_PLOT)
        return [folder / COMPARISON_PLOT]
