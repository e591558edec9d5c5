"""`traindx brief`: what was measured of a training, one line for each fact, for a context window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from traindx.cli._options import map_option, set_option, stacked

if TYPE_CHECKING:
    from traindx.report.brief.facts import Brief

reading_options = stacked(
    click.option("--script", metavar="FILE", help="Read the training script too: lines are named."),
    click.option("--jobs", metavar="N", type=click.IntRange(1), help="Processes for many runs."),
    click.option("--force", is_flag=True, help="Let files that are written replace others."),
    set_option,
    map_option,
)


@click.command(short_help="Print what was measured as one page of facts, for an assistant.")
@click.argument("path", metavar="RECORDING|LOG|FOLDER")
@click.option(
    "--tokens",
    type=click.IntRange(100),
    default=1200,
    show_default=True,
    help="How long the page may be; a token for 3.5 characters, or each piece of a word, if those are more.",
)
@click.option("--json", "json_out", metavar="FILE", help="Write all facts as JSON; '-' prints it instead.")
@reading_options
def command(path: str, tokens: int, json_out: str | None, force: bool, **options: Any) -> None:
    """Print one page of what was measured of a training: facts with numbers, no advice in prose.

    What is trained on what, how far it got against chance and simple models, where the curves turned, what
    is odd inside, time and memory, what was not measured and the command that would, the ranked causes.
    Each line has a handle (F7): 'traindx show' with the same path shows what is behind it. Of a folder of
    runs, a line for each, worst first; 'traindx show FOLDER F3' is the page of the third line's run.

    Exit code: 0 when a run was read, 2 when none was.
    """
    from traindx.cli._output import print_document, print_lines
    from traindx.report.brief.behind import brief_dict
    from traindx.report.json_text import json_document

    page = read_brief(path, tokens, options)
    document = json_document(brief_dict(page)) if json_out is not None else b""
    if json_out == "-":
        print_document(document)
        return
    print_lines(f"{page}\n")
    if json_out is not None:
        write_document(json_out, document, page, force=force)


def read_brief(path: str, tokens: int, options: dict[str, Any]) -> Brief:
    """The page of a path, as both commands make it: handles are the same."""
    from traindx.cli._cores import diagnose_runs
    from traindx.cli._reports import read_for_report
    from traindx.report.brief.build import brief_of

    reading = read_for_report((path,), options["maps"])
    return brief_of(diagnose_runs(reading.runs, options["jobs"], options["script"]), path, tokens)


def write_document(out: str, document: bytes, page: Brief, *, force: bool) -> None:
    """JSON as a file, never over a log."""
    from traindx.cli._output import refuse_logs, write_text

    if page.diagnosis is not None:
        refuse_logs(out, [page.diagnosis.run])
    write_text(out, document.decode() + "\n", force=force)
