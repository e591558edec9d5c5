"""`traindx ask`: an interview that ends in the same diagnosis a log gets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from traindx.cli import Failure
from traindx.cli._options import set_option
from traindx.cli._output import (
    exists_already,
    print_document,
    print_lines,
    refuse_logs,
    screen,
)
from traindx.cli._saved_answers import Kept, on_a_terminal
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.evidence.case import Case
    from traindx.interview.answer_files import AnswerFile
    from traindx.interview.session import Interview


@click.command(short_help="Answer questions, the most informative first; ends in a diagnosis.")
@click.argument("path", metavar="[PATH]", required=False)
@click.option("--answers", "answers", metavar="FILE", help="Take answers from a TOML or JSON file.")
@click.option("--save", "save", metavar="FILE", help="Keep the answers there (TOML, or JSON by its ending).")
@click.option("--json", "as_json", is_flag=True, help="Ask nothing; print JSON with the next question in it.")
@click.option("--script", metavar="FILE", help="Read the training script too.")
@click.option("-a", "--all", "everything", is_flag=True, help="Every cause and check in full.")
@click.option("--force", is_flag=True, help="Let --save replace an existing file.")
@set_option
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when a problem was found.")
@click.pass_context
def command(
    ctx: click.Context,
    path: str | None,
    answers: str | None,
    save: str | None,
    as_json: bool,
    script: str | None,
    everything: bool,
    force: bool,
    exit_zero: bool,
) -> None:
    """Ask what is wrong with a training: symptoms first, then what tells most, then the diagnosis.

    Without PATH nothing but the answers is needed. PATH is a log, a recording or a training script:
    then only what it does not tell is asked. Answer by number or in words; ? is don't know, b goes
    back, q ends the questions. With --answers and no terminal, or with --json, nothing is asked.

    Exit code: 0 when nothing calls for action, 1 when there is a problem of medium severity or
    above, 2 when it could not be done.
    """
    if save is not None and os.path.lexists(save) and not force and not _same(save, answers):
        raise exists_already(save)
    from traindx.interview.session import Interview

    interview = Interview(_base(path, script))
    if save is not None:
        refuse_logs(save, [interview.base.run])
        if _same(save, script):
            raise Failure(f"{visible(save)} is the script that was read. Choose another name.")
    answer_file = _read_answers(interview, answers)
    asks = not as_json and (answers is None or on_a_terminal())
    keep = Kept(interview, save, answer_file.plan, [one for one in (path, script) if one])
    plan = _interviewed(interview, keep, answer_file.plan) if asks else answer_file.plan
    keep.plan = plan
    keep.now()
    if not as_json and not interview.symptoms and not interview.answers and path is None:
        raise Failure(_NO_ANSWER)
    problem = _print_diagnosis(interview, plan, path, script, as_json=as_json, everything=everything)
    if problem and not exit_zero:
        ctx.exit(1)


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


def _read_answers(interview: Interview, answers: str | None) -> AnswerFile:
    from traindx.core.nouns import Unreadable
    from traindx.interview.answer_files import AnswerFile, read_answers, take

    if answers is None:
        return AnswerFile()
    try:
        answer_file = read_answers(answers)
        take(interview, answer_file, answers)
    except Unreadable as error:
        raise Failure(f"{visible(str(error), 500)}. docs/ask.md shows what such a file holds.") from None
    return answer_file


def _same(one: str, other: str | None) -> bool:
    return other is not None and os.path.realpath(one) == os.path.realpath(other)


def _print_diagnosis(
    interview: Interview,
    plan: str,
    path: str | None,
    script: str | None,
    *,
    as_json: bool,
    everything: bool,
) -> bool:
    """Print the diagnosis and where to go from it; whether there is a problem."""
    from traindx.cli import cli
    from traindx.interview.next_commands import steps_onward

    diagnosis = interview.diagnosis()
    commands = frozenset(cli.list_commands(click.Context(cli)))
    source = script or (path if path is not None and path.endswith(".py") else None) or "train.py"
    steps = steps_onward(interview, diagnosis, commands, source)
    if as_json:
        from traindx.report.interview_json import interview_document

        print_document(interview_document(interview, diagnosis, plan, steps))
    else:
        from traindx.report.diagnosis import render_diagnosis
        from traindx.report.interview import afterwards

        out = screen()
        lines = ["", *render_diagnosis(diagnosis, everything=everything, screen=out)]
        lines += afterwards(interview, diagnosis, plan, steps, out)
        print_lines("\n".join(lines) + "\n")
    return diagnosis.verdict == "problem"
