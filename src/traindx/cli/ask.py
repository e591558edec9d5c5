"""`traindx ask`: an interview that ends in the same diagnosis a log gets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure
from traindx.cli._options import set_option
from traindx.cli._output import exists_already, refuse_logs, screen
from traindx.cli._reports import Outputs
from traindx.cli._saved_answers import Kept, on_a_terminal
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis, Reading
    from traindx.evidence.case import Case
    from traindx.interview.next_commands import NextCommand
    from traindx.interview.session import Interview
    from traindx.report.document import Document
    from traindx.report.layout import Screen


@click.command(short_help="Answer questions, the most informative first; ends in a diagnosis.")
@click.argument("path", metavar="[PATH]", required=False)
@click.option("--symptoms", metavar="TEXT", help="What goes wrong, in words or as ids; values count too.")
@click.option("--answers", metavar="FILE", help="Take answers from a TOML or JSON file.")
@click.option("--save", metavar="FILE", help="Keep the answers there (TOML, or JSON by its ending).")
@click.option("--json", "as_json", is_flag=True, help="Ask nothing; print JSON with the next question in it.")
@click.option("--md", metavar="FILE", help="Write a Markdown report; '-' asks nothing and prints it.")
@click.option("--html", metavar="FILE", help="Write one self-contained page.")
@click.option("--plots", metavar="DIR", help="Write PNGs of the curves.")
@click.option("--script", metavar="FILE", help="Read the training script too.")
@click.option("-a", "--all", "everything", is_flag=True, help="Every cause and check in full.")
@click.option("--force", is_flag=True, help="Let --save, --md, --html and --plots replace existing files.")
@set_option
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when a problem was found.")
def command(path: str | None, **options: Any) -> None:
    """Ask what is wrong with a training: symptoms first, then what tells most, then the diagnosis.

    Without PATH nothing but the answers is needed. PATH is a log, a recording or a training script:
    then only what it does not tell is asked. Answer by number or in words; ? is don't know, b goes
    back, q ends the questions. With --answers or --symptoms and no terminal, with --json or --md -,
    nothing is asked.

    Exit code: 0 when nothing calls for action, 1 when there is a problem of medium severity or
    above, 2 when it could not be done.
    """
    outputs = Outputs.checked(options)
    save, script, answers = options["save"], options["script"], options["answers"]
    if save is not None and os.path.lexists(save) and not outputs.force and not _same_file(save, answers):
        raise exists_already(save)
    from traindx.interview.session import Interview

    interview = Interview(_base(path, script))
    outputs.refuse_logs([interview.base.run])
    if save is not None:
        refuse_logs(save, [interview.base.run])
        if _same_file(save, script):
            raise Failure(f"{visible(save)} is the script that was read. Choose another name.")
    plan = _known_answers(interview, options["symptoms"], answers)
    asks = not outputs.as_json and outputs.md != "-"
    asks = asks and ((answers is None and options["symptoms"] is None) or on_a_terminal())
    keep = Kept(interview, save, plan, [source for source in (path, script) if source])
    plan = _interviewed(interview, keep, plan) if asks else plan
    keep.plan = plan
    keep.now()
    if not outputs.as_json and not interview.symptoms and not interview.answers and path is None:
        raise Failure(_NO_ANSWER)
    source = script or (path if path is not None and path.endswith(".py") else None) or "train.py"
    report = InterviewReport(interview, plan, source, options["everything"])
    outputs.write(report)
    if report.diagnosis.verdict == "problem" and not options["exit_zero"]:
        raise SystemExit(1)


@dataclass(frozen=True)
class InterviewReport:
    """An interview in every form: the diagnosis, the answers, where to go from it."""

    interview: Interview
    plan: str
    source: str
    everything: bool

    @cached_property
    def diagnosis(self) -> Diagnosis:
        return self.interview.diagnosis()

    @cached_property
    def steps(self) -> list[NextCommand]:
        from traindx.cli import cli
        from traindx.interview.next_commands import steps_onward

        commands = frozenset(cli.list_commands(click.Context(cli)))
        return steps_onward(self.interview, self.diagnosis, commands, self.source)

    @property
    def reading(self) -> Reading:
        from traindx.core.nouns import Reading

        return Reading((), ())

    def lines(self, out: Screen) -> list[str]:
        from traindx.report.diagnosis import render_diagnosis
        from traindx.report.interview import afterwards

        report_lines = render_diagnosis(self.diagnosis, everything=self.everything, screen=out)
        return ["", *report_lines, *afterwards(self.interview, self.diagnosis, self.plan, self.steps, out)]

    def markdown(self) -> str:
        from traindx.report.to_markdown import markdown

        return markdown(self._page())

    def html(self) -> str:
        from traindx.report.to_html import page

        return page(self._page())

    def _page(self) -> Document:
        from traindx.report.interview import interview_page

        return interview_page(self.interview, self.diagnosis, self.plan, self.steps)

    def document(self) -> bytes:
        from traindx.report.interview_json import interview_document

        return interview_document(self.interview, self.diagnosis, self.plan, self.steps)

    def plots(self, folder: Path) -> Sequence[Path]:
        from traindx.report.diagnosis_plots import write_diagnosis_plots

        return write_diagnosis_plots([self.diagnosis], folder)


def _interviewed(interview: Interview, keep: Kept, plan: str) -> str:
    """The interview on a terminal or over a pipe; the answers are kept wherever it breaks off."""
    from traindx.cli._dialogue import Dialogue

    try:
        return Dialogue(interview, screen(), keep.now).talk(plan)
    except KeyboardInterrupt:
        keep.at_the_break()
        raise
    except EOFError:
        keep.at_the_end()
    return plan


_NO_ANSWER = (
    "there is no answer: say what goes wrong, or give a log. Without a terminal: --answers FILE with "
    'symptoms = ["not_learning"] and a table [answers].'
)


def _base(path: str | None, script: str | None) -> Case | None:
    """What is known before anybody says a word."""
    if path is None:
        return _script_case(script) if script else None
    if path.endswith(".py") and os.path.isfile(path):
        return _script_case(path)
    from traindx.cli._errors import nothing_read
    from traindx.cli.inspect_ import read_runs
    from traindx.core.nouns import Unreadable
    from traindx.engine import case_of

    reading = read_runs((path,), ())
    if not reading.runs:
        raise nothing_read((path,), reading.skipped)
    if len(reading.runs) > 1:
        names = ", ".join(visible(run.name, 80) for run in reading.runs[:3])
        raise Failure(f"{visible(path)} holds {len(reading.runs)} runs ({names}, ...). Name one of them.")
    try:
        return case_of(reading.runs[0], script)
    except Unreadable as error:
        raise Failure(f"{visible(str(error), 300)}. Give --script the Python file of the training.") from None


def _script_case(path: str) -> Case:
    from traindx.core.nouns import Unreadable
    from traindx.engine import script_case

    try:
        return script_case(path)
    except Unreadable as error:
        raise Failure(f"{visible(str(error), 300)}. Give the Python file of the training.") from None


def _known_answers(interview: Interview, symptoms: str | None, answers: str | None) -> str:
    """Put into the interview what was given beforehand; the plan that is part of it."""
    from traindx.core.nouns import Unreadable
    from traindx.interview.answer_files import read_answers, take
    from traindx.interview.answers import NotUnderstood
    from traindx.interview.complaint import understand

    plan = ""
    if symptoms is not None:
        try:
            interview.report(symptoms)
        except NotUnderstood as error:
            raise Failure(visible(str(error), 500)) from None
        plan = symptoms if understand(symptoms).plans else ""
    if answers is None:
        return plan
    try:
        answer_file = read_answers(answers)
        take(interview, answer_file, answers)
    except Unreadable as error:
        raise Failure(f"{visible(str(error), 500)}. docs/ask.md shows what such a file holds.") from None
    return answer_file.plan or plan


def _same_file(first: str, second: str | None) -> bool:
    return second is not None and os.path.realpath(first) == os.path.realpath(second)
