"""A treatment as one HTML file: the verdict, the trials, the change, the curves, the diagnoses."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.core.nouns import Fix
from traindx.report.curves import POINTS_MOST
from traindx.report.page.markup import Html, joined, prose, tag
from traindx.report.page.page import document
from traindx.report.page.patch import patch as patch_block
from traindx.report.page.run import run_body
from traindx.report.treatment_markdown import TITLES

if TYPE_CHECKING:
    from traindx.experiment.treat.results import Round, Treated

_ABOUT = (
    "A pair is the same seed and the same data without and with the change. The interval is of the mean gain "
    "over the pairs; p is exact, of the sign-flip test. Helped is said only where every pair says so."
)


def treatment_page(treated: Treated, patch: str, picture: Path | None) -> str:
    """The page as text."""
    cost = tag("p", f"{treated.cost.text}.", cls="facts")
    parts = [
        tag("h1", treated.script, cls="name"),
        tag(
            "section",
            tag("h2", TITLES[treated.status]),
            tag("p", prose(treated.said)),
            cost,
        ),
        *(_round(one, number, len(treated.rounds)) for number, one in enumerate(treated.rounds, 1)),
        _change(patch),
        _picture(picture),
    ]
    for name, title, diagnosis in (("before", "Before", treated.before), ("after", "After", treated.final)):
        if diagnosis is not None:
            body = run_body(diagnosis, name, POINTS_MOST)
            parts.append(
                tag(
                    "details", tag("summary", f"{title}: the diagnosis"), tag("div", body, cls="run"), id=name
                )
            )
    return document(f"{treated.script}: treatment", "treatment", joined(*parts), _ABOUT)


def _round(one: Round, number: int, rounds: int) -> Html:
    rows = [
        tag(
            "tr",
            tag("td", tag("code", t.candidate.name)),
            tag("td", t.candidate.title),
            tag("td", t.text),
        )
        for t in one.trials
    ]
    head = tag("tr", tag("th", "change"), tag("th", "remedy"), tag("th", "verdict"))
    return tag(
        "section",
        tag("h2", f"Round {number}" if rounds > 1 else "Trials"),
        tag("table", tag("thead", head), tag("tbody", *rows)) if rows else None,
        tag("p", prose(f"Edit: {one.edited.text}")) if one.edited is not None else None,
        tag("p", prose(f"The edited script itself: {one.proof.verdict.text}"))
        if one.proof is not None
        else None,
        tag("ul", *(tag("li", prose(text)) for text in _expected(one))) if one.winner is not None else None,
        tag("p", prose(f"By hand: {one.instruction.text}")) if one.instruction is not None else None,
    )


def _expected(one: Round) -> list[str]:
    """What the remedy should bring, and whether it did."""
    measured = one.proof or one.winner
    return [f"Expected: {expectation.line}" for expectation in measured.expected] if measured else []


def _change(patch: str) -> Html | None:
    if not patch:
        return None
    return tag("section", tag("h2", "The change"), patch_block(Fix("", "", patch=patch)))


def _picture(picture: Path | None) -> Html | None:
    if picture is None or not picture.exists():
        return None
    data = base64.b64encode(picture.read_bytes()).decode()
    return tag(
        "section",
        tag("h2", "Before and after"),
        tag(
            "img", src=f"data:image/png;base64,{data}", alt="curves before and after", style="max-width:100%"
        ),
    )
