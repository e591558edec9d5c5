"""`traindx explain`: the page of a cause, symptom, remedy, detector, change, check or sheet."""

from __future__ import annotations

import os
import sys

import click

from traindx.cli import Failure
from traindx.cli._output import print_lines, screen


@click.command(short_help="Show the page of a cause, symptom, remedy, detector, change, check or sheet.")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
def command(ids: tuple[str, ...]) -> None:
    """Show the page of a cause, symptom, remedy, detector, change, check or reference sheet.

    ID is what a diagnosis names, like lr_too_high or loss_spikes; 'traindx list' shows them all. When
    several things share an id, all their pages are shown. In a pipe the pages are plain Markdown.

    Exit code: 0 when every id is known, 2 when one is not.
    """
    from traindx.knowledge.catalogue import pages_of
    from traindx.report import change_pages, check_pages
    from traindx.report.pages import markdown

    texts = []
    for id in ids:
        pages = [markdown(page) for page in pages_of(_spelled(id))]
        others = (change_pages.page_of(_spelled(id)), check_pages.page_of(_spelled(id)))
        pages += [page for page in others if page is not None]
        if not pages:
            raise _unknown(id)
        texts += pages
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
