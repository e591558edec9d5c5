"""`traindx compare --baseline GOOD BAD...`: diagnoses sharpened by a reference run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from traindx.cli import Failure
from traindx.cli._output import screen
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.comparison import Comparison
    from traindx.comparison.baseline import Sharpened
    from traindx.core.nouns import Reading, Run
    from traindx.report.page.markup import Html

_SAID_MOST = 8


def find_baseline(path: str, reading: Reading, maps: tuple[str, ...]) -> Run:
    """The one run of the baseline, as the common reading holds it."""
    from traindx.cli.inspect_ import read_runs

    found = read_runs((path,), maps)
    if not found.runs:
        from traindx.cli._errors import nothing_read

        raise nothing_read((path,), found.skipped)
    if len(found.runs) > 1:
        names = ", ".join(visible(run.name, 80) for run in found.runs[:3])
        raise Failure(
            f"--baseline takes one run, but {visible(path, 120)} holds {len(found.runs)}: {names}. Name one."
        )
    wanted = {os.path.realpath(file) for file in found.runs[0].files}
    for run in reading.runs:
        if wanted & {os.path.realpath(file) for file in run.files}:
            return run
    raise Failure(f"{visible(path, 120)} could not be read together with the other runs.")


def sharpened(told: Comparison, baseline: Run) -> list[Sharpened]:
    """The diagnosis of every other run, by the baseline."""
    from traindx.comparison.baseline import sharpen

    good = next((number for number, run in enumerate(told.runs) if run.run is baseline), None)
    if good is None:
        raise Failure("the baseline is the same run as one of the others: give two different ones.")
    return [sharpen(told, bad, good) for bad in range(len(told.runs)) if bad != good]


def lines(made: Sequence[Sharpened], *, everything: bool) -> list[str]:
    """What the baseline says about each run, then its diagnosis."""
    from traindx.report.diagnosis_terminal import render_diagnosis
    from traindx.report.labelled import bullets

    out = screen()
    shown: list[str] = []
    for one in made:
        shown += ["", ""]
        shown += bullets("baseline", one.said[: None if everything else _SAID_MOST], out)
        shown += ["", *render_diagnosis(one.diagnosis, everything=everything, screen=out)]
    return shown


def markdown(made: Sequence[Sharpened]) -> str:
    """The same as Markdown."""
    from traindx.report.diagnosis_markdown import markdown as report
    from traindx.report.markdown_text import escaped

    parts = []
    for one in made:
        said = "\n".join(f"- {escaped(text)}" for text in one.said)
        parts.append(f"\n# Against the baseline\n\n{said}\n\n{report([one.diagnosis])}")
    return "".join(parts)


def page(made: Sequence[Sharpened]) -> Html:
    """The same for the end of the page."""
    from traindx.report.curves import POINTS_MOST
    from traindx.report.page.markup import joined, prose, tag
    from traindx.report.page.run import run_body

    parts = []
    for number, one in enumerate(made, 1):
        said = tag("ul", *(tag("li", prose(text)) for text in one.said), cls="said")
        name = f"Diagnosis of {one.diagnosis.run.name}"
        body = run_body(one.diagnosis, f"run-{number}", POINTS_MOST)
        parts.append(tag("div", tag("h1", name, cls="name"), said, body, cls="run", id=f"run-{number}"))
    return joined(*parts)
