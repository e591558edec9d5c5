"""The page as a whole: one file that loads nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from traindx import __version__
from traindx.core.nouns import Diagnosis
from traindx.report.curves import POINTS_MOST
from traindx.report.page.markup import Html, joined, tag
from traindx.report.page.run import grade_class, run_body
from traindx.report.page.triage import run_heading, short_names, triage
from traindx.report.text import encodable
from traindx.report.wording import worst_first

_HERE = Path(__file__).parent
_DETAILED_MOST = 200
_POINTS_IN_ALL = 240_000
_CURVES_GUESSED = 4
_POINTS_LEAST = 150
_ABOUT = (
    "Confidence is the probability that a cause is the root of its problem. Evidence is weighed in bits: "
    "each bit doubles the odds of a cause against its rivals."
)


def write_html(diagnoses: Sequence[Diagnosis], path: Path) -> None:
    """Write the page."""
    path.write_text(html_document(diagnoses), encoding="utf-8", newline="\n")


@np.errstate(all="ignore")  # logs hold numbers near the ends of the range
def html_document(diagnoses: Sequence[Diagnosis]) -> str:
    """The page as text: one run in full, or many behind a table of triage."""
    title = (
        f"{diagnoses[0].run.name}: diagnosis"
        if len(diagnoses) == 1
        else f"{len(diagnoses):,} runs: diagnosis"
    )
    main = _many(diagnoses) if len(diagnoses) > 1 else joined(*map(_one, diagnoses))
    return document(title, "diagnosis", main, _ABOUT)


def document(title: str, what: str, main: Html, about: str, scripts: Sequence[str] = ()) -> str:
    """Any page of ours around its main part; `scripts` are further ones, run last."""
    running = [_file("theme.js"), _plotly(), _file("page.js"), *scripts]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(running)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"traindx {__version__}"),
        tag("title", title),
        Html(f"<style>{_file('page.css')}</style>"),
        Html(f"<script>{running[0]}</script>"),
    )
    body = tag(
        "body",
        _top(what),
        tag("noscript", tag("p", "The charts need JavaScript; everything else is here.", cls="top")),
        tag("main", main),
        tag("footer", tag("p", about), tag("p", f"traindx {__version__}")),
        *(Html(f"<script>{script}</script>") for script in running[1:]),
    )
    return encodable(f'<!doctype html>\n<html lang="en">{head}{body}</html>\n')


def _top(what: str) -> Html:
    button = tag("button", "Show dark", type="button", id="theme")
    return tag("header", tag("p", tag("b", "traindx"), f" {what}"), button, cls="top")


def _one(diagnosis: Diagnosis) -> Html:
    body = run_body(diagnosis, "run-1", POINTS_MOST)
    return tag("div", tag("h1", diagnosis.run.name, cls="name"), body, cls="run", id="run-1")


def _many(diagnoses: Sequence[Diagnosis]) -> Html:
    ordered = worst_first(diagnoses)
    detailed = ordered[:_DETAILED_MOST]
    share = _POINTS_IN_ALL // (_CURVES_GUESSED * len(detailed))
    limit = max(_POINTS_LEAST, min(POINTS_MOST, share))
    names = short_names([diagnosis.run.name for diagnosis in ordered])
    runs = [
        tag(
            "details",
            tag("summary", run_heading(diagnosis, name)),
            tag("p", diagnosis.run.name, cls="facts name") if name != diagnosis.run.name else None,
            run_body(diagnosis, f"run-{number}", limit),
            cls=f"run {grade_class(diagnosis)}",
            id=f"run-{number}",
        )
        for number, (diagnosis, name) in enumerate(zip(detailed, names, strict=False), start=1)
    ]
    return joined(triage(ordered, names, len(detailed)), *runs)


def _policy(scripts: Sequence[str]) -> str:
    """Only the scripts written here run, and nothing is fetched."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    rules = [
        "default-src 'none'",
        f"script-src {allowed}",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
    ]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


@cache
def _file(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    script: str = get_plotlyjs()
    return script.replace("\r\n", "\n")
