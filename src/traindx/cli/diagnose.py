"""`traindx diagnose`: what is wrong with a training, how surely, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure
from traindx.cli._output import print_document
from traindx.cli._reports import Outputs, read_for_report, report_options
from traindx.report.text import visible

if TYPE_CHECKING:
    from pathlib import Path

    from traindx.core.nouns import Diagnosis, Reading
    from traindx.report.layout import Screen


@click.command(short_help="Report what is wrong with training runs, and what to do.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "-a",
    "--all",
    "everything",
    is_flag=True,
    help="Everything: all evidence, causes and checks; each run of several.",
)
@click.option("--script", metavar="FILE", help="Read the training script too: lines are named.")
@report_options("traindx/diagnosis/1", "live", "Write PNGs: curves, and of a recording its inside.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when a problem was found.")
def command(paths: tuple[str, ...], maps: tuple[str, ...], **options: Any) -> None:
    """Say what is wrong with training runs, how surely, on what evidence, and what to do.

    PATH is a log, a run folder, a folder of runs, or '-' for standard input, in any format traindx
    reads. One run is answered on one screen, several are a table, worst first; --all shows everything.

    Exit code: 0 when nothing calls for action, 1 when a run has a problem of medium severity or
    above, 2 when it could not be done.
    """
    from traindx.cli._cores import diagnose_runs

    outputs = Outputs.checked(options)
    if options["script"] is not None:
        _refuse_unreadable(options["script"])
    reading = read_for_report(paths, maps, _print_empty if outputs.as_json else None)
    outputs.refuse_logs(reading.runs)
    diagnoses = diagnose_runs(reading.runs, options["jobs"], options["script"])
    outputs.write(DiagnosisReport(diagnoses, reading, options["everything"]))
    if not options["exit_zero"] and any(diagnosis.verdict == "problem" for diagnosis in diagnoses):
        raise SystemExit(1)


def _refuse_unreadable(script: str) -> None:
    from traindx.core.nouns import Unreadable
    from traindx.source import read_script

    try:
        read_script(script)
    except Unreadable as error:
        raise Failure(f"{visible(str(error), 300)}. Give --script the Python file of the training.") from None


def _print_empty(reading: Reading) -> None:
    """Programs get a document even when nothing was read."""
    print_document(DiagnosisReport([], reading, False).document())


@dataclass(frozen=True)
class DiagnosisReport:
    """Diagnoses in every form."""

    diagnoses: Sequence[Diagnosis]
    reading: Reading
    everything: bool

    def lines(self, out: Screen) -> list[str]:
        from traindx.cli._casebook_hint import remembered
        from traindx.evidence.phase import worst_first
        from traindx.report.diagnosis import render_diagnosis
        from traindx.report.triage import triage

        if len(self.diagnoses) == 1:
            report_lines = render_diagnosis(self.diagnoses[0], everything=self.everything, screen=out)
            return [*report_lines, *remembered(self.diagnoses[0], out)]
        lines = triage(self.diagnoses, out, everything=self.everything)
        for diagnosis in worst_first(self.diagnoses) if self.everything else ():
            lines += ["", "", *render_diagnosis(diagnosis, everything=False, screen=out)]
        return lines

    def markdown(self) -> str:
        from traindx.report.diagnosis import markdown

        return markdown(self.diagnoses)

    def html(self) -> str:
        from traindx.report.diagnosis import html_document

        return html_document(self.diagnoses)

    def document(self) -> bytes:
        from traindx.report.diagnosis_json import diagnosis_document

        return diagnosis_document(self.diagnoses, self.reading.skipped)

    def plots(self, folder: Path) -> Sequence[Path]:
        from traindx.report.diagnosis_plots import write_diagnosis_plots

        return write_diagnosis_plots(self.diagnoses, folder)
