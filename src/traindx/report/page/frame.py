"""The frame of every page: one file that runs only its own scripts and loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from traindx import __version__
from traindx.report.page.markup import Html, tag
from traindx.report.text import encodable

_HERE = Path(__file__).parent


def framed(title: str, kind: str, main: Html, about: str, scripts: Sequence[str] = ()) -> str:
    """The page around its main part; `scripts` are further ones of ours, run last."""
    running = [_file("theme.js"), _plotly(), _file("page.js"), *map(_file, scripts)]
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
    button = tag("button", "Show dark", type="button", id="theme")
    body = tag(
        "body",
        tag("header", tag("p", tag("b", "traindx"), f" {kind}"), button, cls="top"),
        tag("noscript", tag("p", "The charts need JavaScript; everything else is here.", cls="top")),
        tag("main", main),
        tag("footer", tag("p", about), tag("p", f"traindx {__version__}")),
        *(Html(f"<script>{script}</script>") for script in running[1:]),
    )
    return encodable(f'<!doctype html>\n<html lang="en">{head}{body}</html>\n')


def _policy(scripts: Sequence[str]) -> str:
    """Only the scripts written here run, and nothing is fetched."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
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
