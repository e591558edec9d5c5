"""`traindx show`: the series, table or picture behind a fact of `traindx brief`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from traindx.cli import Failure, note
from traindx.cli.brief import read_brief, reading_options, write_document
from traindx.report.text import visible


@click.command(short_help="Show the series, table or picture behind a fact of 'traindx brief'.")
@click.argument("path", metavar="RECORDING|LOG|FOLDER")
@click.argument("handle", metavar="HANDLE")
@click.option("--json", "json_out", metavar="FILE", help="Write all points and rows; '-' prints it instead.")
@click.option("--png", metavar="FILE", help="Draw it.")
@reading_options
def command(
    path: str, handle: str, json_out: str | None, png: str | None, force: bool, **options: Any
) -> None:
    """Show what is behind a line of 'traindx brief': numbers and thresholds, its table, its series.

    HANDLE is what the line begins with (F7), for the same path. Of a folder of runs a handle leads to the
    page of that run, whose handles (F3.7) lead on.

    Exit code: 0 when it was shown, 2 when there is no such fact.
    """
    from traindx.cli._output import print_document, print_lines, screen
    from traindx.report.brief.behind import brief_dict, fact_dict, fact_lines
    from traindx.report.brief.build import behind
    from traindx.report.brief.facts import UnknownHandle
    from traindx.report.json_text import json_document

    try:
        page, number = behind(read_brief(path, 1200, options), handle)
    except UnknownHandle as error:
        raise Failure(visible(str(error), 300)) from None
    document = brief_dict(page) if number is None else fact_dict(page, number)
    if json_out == "-":
        print_document(json_document(document))
    else:
        text_lines = page.lines() if number is None else fact_lines(page, number, screen())
        print_lines("\n".join(text_lines) + "\n")
        if json_out is not None:
            write_document(json_out, json_document(document), page, force=force)
    if png is not None:
        _draw(page, number, handle, png, force=force)


def _draw(page: Any, number: int | None, handle: str, png: str, *, force: bool) -> None:
    from traindx.cli._output import exists_already, writing
    from traindx.report.brief.behind import write_fact_picture

    if os.path.lexists(png) and not force:
        raise exists_already(png)
    with writing(png):
        has_picture = number is not None and write_fact_picture(page, number, Path(png))
    if not has_picture:
        raise Failure(f"{visible(handle, 20)} has no curve and no layer to draw; leave out --png.")
    note(f"Wrote {visible(png)}")
