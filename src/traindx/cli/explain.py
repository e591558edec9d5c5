"""`traindx explain`: the page of a cause, symptom, remedy, detector, change, check or sheet."""

from __future__ import annotations

import os
import sys

import click

from traindx.cli import Failure
from traindx.cli._options import json_option
from traindx.cli._output import print_document, print_lines, screen


@click.command(short_help="Show the page of a cause, symptom, remedy, detector, change, check or sheet.")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@json_option("traindx/pages/1")
def command(ids: tuple[str, ...], as_json: bool) -> None:
    """Show the page of a cause, symptom, remedy, detector, change, check or reference sheet.

    ID is what a diagnosis names, like lr_too_high or loss_spikes; 'traindx list' shows them all. When
    several things share an id, all their pages are shown. In a pipe the pages are plain Markdown.

    Exit code: 0 when every id is known, 2 when one is not.
    """
    from traindx.knowledge.catalogue import pages_of
    from traindx.report import change_pages, check_pages
    from traindx.report.pages import markdown

    found_pages: list[tuple[str, str, str]] = []
    for id in ids:
        name = _spelled(id)
        pages = [(page.id, page.kind, markdown(page)) for page in pages_of(name)]
        other_pages = {"change": change_pages.page_of(name), "check": check_pages.page_of(name)}
        pages += [(name, kind, page) for kind, page in other_pages.items() if page is not None]
        if not pages:
            raise _unknown(id)
        found_pages += pages
    if as_json:
        from traindx.report.json_text import json_bytes

        rows = [{"id": id, "kind": kind, "markdown": text} for id, kind, text in found_pages]
        print_document(json_bytes({"schema": "traindx/pages/1", "pages": rows}))
        return
    texts = [text for _, _, text in found_pages]
    print_lines(_rendered(texts) if _for_eyes() else "\n".join(texts))


def _spelled(id: str) -> str:
    """`LR too high`, `lr-too-high` and `loss_spikes.spike_ratio` lead to the page, too."""
    return id.strip().partition(".")[0].lower().replace("-", "_").replace(" ", "_")


def _unknown(id: str) -> Failure:
    from traindx.experiment.preflight.check import ids
    from traindx.experiment.runtime.change import change_specs
    from traindx.knowledge.catalogue import nearest
    from traindx.report.text import visible

    near = nearest(_spelled(id), also={*ids(), *change_specs()})
    hint = (
        f"Did you mean {' or '.join([', '.join(near[:-1]), near[-1]] if near[1:] else near)}? "
        if near
        else ""
    )
    return Failure(f"nothing is called {visible(id, 60)!r}. {hint}'traindx list causes' shows the causes.")


def _for_eyes() -> bool:
    """Whether standard output is a terminal that can show more than text."""
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _rendered(texts: list[str]) -> str:
    from traindx.cli._markdown import rendered

    return "\n\n".join(rendered(text, screen()) for text in texts)
