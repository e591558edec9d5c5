"""`traindx casebook`: what was tried in this project before, and what it did."""

from __future__ import annotations

import os

import click

from traindx.cli import Failure, say
from traindx.cli._output import print_document, print_lines, screen
from traindx.report.text import count, visible


@click.command(short_help="Search what was tried in this project before, and what it did.")
@click.option("--json", "as_json", is_flag=True, help="Print the entries as JSON.")
@click.option("--folder", default=".", metavar="DIR", help="The project; default: here.")
@click.argument("words", nargs=-1)
def command(words: tuple[str, ...], as_json: bool, folder: str) -> None:
    """List what 'traindx treat' and 'traindx try' have tried in this project, the latest last.

    With WORDS only entries in which all of them occur: a cause, a remedy, a symptom, a script, 'helped'.
    """
    from traindx.experiment.casebook import path_of, read, search

    path = path_of(folder)
    if not os.path.exists(path):
        raise Failure(f"there is no {visible(str(path))} yet: 'traindx treat train.py' writes it.")
    try:
        all_entries, damaged = read(folder)
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise Failure(
            f"{visible(str(path))} cannot be read: {why}. Move it away to begin a new one."
        ) from None
    if damaged:
        lines = count(damaged, "line")
        say(f"Warning: {path}: {lines} torn or foreign, passed over.")
    entries = search(all_entries, words)
    if as_json:
        from dataclasses import asdict

        from traindx.report.json_text import json_bytes

        print_document(json_bytes([asdict(entry) for entry in entries]))
        return
    if not entries:
        print_lines("Nothing in the casebook fits.\n")
        return
    from traindx.report.document import TableColumn
    from traindx.report.layout import table

    out = screen()
    rows = [
        [
            visible(entry.date[:10]),
            visible(entry.script, 40),
            visible(entry.cause, 40),
            visible(entry.change, 60),
            visible(entry.verdict, 20) + (", edited" if entry.edited else ""),
            visible(entry.effect, 120),
        ]
        for entry in entries
    ]
    names = ("date", "script", "cause", "change", "verdict", "effect")
    print_lines("\n".join(table([TableColumn(name) for name in names], rows, out)) + "\n")
