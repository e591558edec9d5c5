"""`traindx list`: what traindx knows, one line each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from traindx.cli._options import json_option
from traindx.cli._output import print_document, print_lines, screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traindx.core.nouns import Scalar

KINDS = ("causes", "symptoms", "detectors", "remedies", "changes", "checks", "thresholds", "sheets")
_OLD_NAMES = {"interventions": "changes"}
_GROUPED_BY = {"detectors": "area", "checks": "group"}


@click.command(
    short_help="List causes, symptoms, detectors, remedies, changes, checks, thresholds or sheets."
)
@click.argument("kind", metavar="|".join(KINDS), type=click.Choice([*KINDS, *_OLD_NAMES]))
@json_option("traindx/list/1")
def command(kind: str, as_json: bool) -> None:
    """List what traindx knows, one line each; 'traindx explain ID' shows the page.

    Symptoms are what is seen, causes why it happens, remedies what to do. Detectors look at a run;
    thresholds are the numbers they go by. Changes change one thing in a training while it runs.
    Checks are those of 'traindx preflight'. Sheets are pages of reference.
    """
    if kind == "thresholds":
        rows = _thresholds()
        if as_json:
            _print_json(kind, [{"id": id, "default": default} for id, default in rows])
            return
        _print_table([(id, _value(default)) for id, default in rows])
        print_lines(
            "\nChange one with --set DETECTOR.NAME=VALUE, or for good in pyproject.toml:\n\n"
            "  [tool.traindx.thresholds.DETECTOR]\n  NAME = VALUE\n"
        )
        return
    from traindx.report.pages import one_line

    listed = one_line(_OLD_NAMES.get(kind, kind))
    if as_json:
        keys = ("id", _GROUPED_BY.get(kind, "category"), "text")
        _print_json(kind, [{k: v for k, v in zip(keys, row, strict=True) if v} for row in listed])
    else:
        _print_table([tuple(cell for cell in row if cell) for row in listed])


def _thresholds() -> list[tuple[str, Scalar]]:
    from traindx.core.units import detectors
    from traindx.knowledge.catalogue import thresholds

    return [
        (f"{unit.id}.{name}", default) for unit in detectors() for name, default in thresholds(unit).items()
    ]


def _value(default: Scalar) -> str:
    """As it is written in TOML."""
    return str(default).lower() if isinstance(default, bool) else repr(default).replace("'", '"')


def _print_json(kind: str, items: Sequence[dict[str, Scalar]]) -> None:
    from traindx.report.json_text import json_bytes

    document = {"schema": "traindx/list/1", "kind": kind, "items": items}
    print_document(json_bytes(document))


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Aligned columns; the last one wraps on a terminal and stays whole in a pipe."""
    from traindx.report.layout import wrapped

    out = screen()
    width = out.width if sys.stdout.isatty() else sys.maxsize
    sizes = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)] if rows else []
    lines = []
    for row in rows:
        cells = [cell.ljust(size) for cell, size in zip(row, sizes, strict=False)]
        head = "  ".join([*cells, ""])
        body = wrapped(row[-1], width, first=head, rest=" " * len(head))
        lines.append(out.paint(head, "cyan") + body[0][len(head) :])
        lines += body[1:]
    print_lines("\n".join(lines) + "\n")
