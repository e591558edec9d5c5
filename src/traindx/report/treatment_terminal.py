"""How a treatment ended, on a terminal: the verdict, the diff, the files, what to do next."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.knowledge.catalogue import symptoms
from traindx.report.labelled import bullets, labelled
from traindx.report.layout import Screen
from traindx.report.place_words import diff_lines, kind_of_line
from traindx.report.text import visible
from traindx.report.treatment_files import patch_of

if TYPE_CHECKING:
    from traindx.experiment.treat.results import Treated

_WORDS = {
    "healthy": ("HEALTHY", "good"),
    "treated": ("TREATED", "good"),
    "improved": ("IMPROVED", "warning"),
    "instructed": ("BY HAND", "warning"),
    "not treated": ("NOT MENDED", "alarm"),
    "unclear": ("UNCLEAR", "warning"),
}
_COLOURS = {"add": "green", "remove": "red", "head": "dim"}


def ending(treated: Treated, written: Sequence[Path], screen: Screen) -> Iterator[str]:
    """The last lines of `traindx treat`."""
    word, style = _WORDS[treated.status]
    yield ""
    yield screen.paint(f"{word:<12}", style) + screen.paint(screen.plain(visible(treated.said)), "bold")
    patch = patch_of(treated)
    if patch:
        yield ""
        for line in diff_lines(patch):
            yield "  " + screen.paint(screen.plain(visible(line)), _COLOURS.get(kind_of_line(line), ""))
    if treated.new_args is not None:
        yield from labelled("run it so", shlex.join(treated.new_args), screen)
    hands = [one.instruction.text for one in treated.rounds if one.instruction is not None]
    if hands:
        yield from bullets("by hand", hands, screen)
    yield ""
    if treated.status == "healthy":
        yield from _noticed(treated, screen)
    yield from labelled("cost", treated.cost.text, screen)
    if written:
        folder = written[0].parent
        yield from labelled(
            "written", f"{folder}{os.sep}: {', '.join(path.name for path in written)}", screen
        )
    if patch and written:
        yield from labelled(
            "next",
            f"git apply {shlex.quote(f'{written[0].parent}/fix.patch')}, or traindx treat --apply",
            screen,
        )


def _noticed(treated: Treated, screen: Screen) -> Iterator[str]:
    """What is too slight to be treated unasked, and how to try something for it."""
    for problem in treated.before.problems if treated.before is not None else ():
        able = [fix.remedy for fix in problem.hypotheses[0].fixes if fix.trials]
        if able:
            title = symptoms()[problem.symptom].title
            command = shlex.join(["traindx", "try", able[0], os.path.relpath(treated.script)])
            yield from labelled("slight", f"{title}. To try something for it: {command}", screen)
