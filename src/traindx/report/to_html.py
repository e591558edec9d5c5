"""A document as HTML: a page of its own that loads nothing, or a part of a notebook.

Notebooks that are opened again drop scripts, style sheets and drawings. There looks are style attributes
in colours that do on light and dark pages alike, and charts are images.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from traindx import __version__
from traindx.report.charts import Curves, Drawing
from traindx.report.curves import POINTS_MOST
from traindx.report.document import (
    Block,
    Cell,
    Chart,
    Column,
    Details,
    Diff,
    Document,
    Items,
    Labelled,
    Preformatted,
    Prose,
    Section,
    Share,
    Shares,
    Span,
    Sparkline,
    Table,
    Text,
    Verdict,
    plain,
    spans,
    without_empty,
)
from traindx.report.page.markup import Html, joined, json_script, prose, tag
from traindx.report.places import kind_of_line
from traindx.report.text import encodable, percent
from traindx.report.to_plotly import Store

_ASSETS = Path(__file__).parent / "page"
_POINTS_IN_ALL, _POINTS_LEAST, _CURVES_GUESSED = 240_000, 150, 4


@np.errstate(all="ignore")  # logs hold numbers near the ends of the range
def page(document: Document, scripts: Sequence[str] = ()) -> str:
    """The whole file; `scripts` are further ones of ours, run last."""
    stores = sum(isinstance(one, Section) and one.own_charts for one in document.blocks)
    share = _POINTS_IN_ALL // (_CURVES_GUESSED * max(stores, 1))
    renderer = _Page(max(_POINTS_LEAST, min(POINTS_MOST, share)))
    running = [_file("theme.js"), _plotly(), _file("page.js"), *map(_file, scripts)]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(running)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"traindx {__version__}"),
        tag("title", f"{plain(document.title)}: {document.what}"),
        Html(f"<style>{_file('page.css')}</style>"),
        Html(f"<script>{running[0]}</script>"),
    )
    button = tag("button", "Show dark", type="button", id="theme")
    body = tag(
        "body",
        tag("header", tag("p", tag("b", "traindx"), f" {document.what}"), button, cls="top"),
        tag("noscript", tag("p", "The charts need JavaScript; everything else is here.", cls="top")),
        tag("main", tag("h1", renderer.inline(document.title), cls="name"), renderer.scoped(document.blocks, document.name, 0)),
        tag("footer", tag("p", document.about), tag("p", f"traindx {__version__}")),
        *(Html(f"<script>{script}</script>") for script in running[1:]),
    )
    return encodable(f'<!doctype html>\n<html lang="en">{head}{body}</html>\n')


def part(blocks: Sequence[Block], name: str) -> str:
    """Some blocks as they stand on a page, with the data of their charts."""
    return _Page(POINTS_MOST).scoped(blocks, name, 0)


def fragment(blocks: Iterable[Block], colour: str) -> str:
    """Part of a notebook, with a bar of the colour at its side."""
    edge = f"border-left:4px solid {colour};padding:4px 0 4px 14px;max-width:760px;line-height:1.45"
    return encodable(tag("div", *_Notebook(0).blocks(blocks, 0), style=edge))


class _Page:
    """Looks are classes of the style sheet."""

    def __init__(self, points: int) -> None:
        self.points = points
        self.store = Store(points)
        self.name = "page"

    def element(self, name: str, *children: str | None, look: str = "", **attributes: object) -> Html:
        return tag(name, *children, cls=look or None, **attributes)

    def heading(self, depth: int, *children: str | None, look: str = "") -> Html:
        return self.element(f"h{min(depth + 2, 5)}", *children, look=look)

    def scoped(self, blocks: Sequence[Block], name: str, depth: int) -> Html:
        """Blocks, and the data of their charts."""
        before = self.store, self.name
        self.store, self.name = Store(self.points), name
        made = joined(*self.blocks(blocks, depth))
        if self.store.figures:
            made = joined(made, json_script(self.store.json(), f"{name}-charts"))
        self.store, self.name = before
        return made

    def blocks(self, blocks: Iterable[Block], depth: int) -> list[Html]:
        return [made for block in blocks if (made := self._block(block, depth))]

    def _block(self, block: Block, depth: int) -> Html | None:
        match block:
            case Section():
                return self._section(block, depth)
            case Details():
                inner = self.element("div", *self.blocks(block.blocks, depth), look="inner")
                head = self.element("summary", self.inline(block.title))
                return self.element("details", head, inner, look=block.look, open=block.is_open)
            case Verdict():
                return self._verdict(block, depth)
            case Text():
                return self.element("p", self.inline(block.prose), look=block.look)
            case Labelled():
                return self._row(block.label, self.inline(block.prose), block.look)
            case Items():
                items = [self.element("li", self.inline(item)) for item in block.items]
                listed = self.element(
                    "ol" if block.numbered else "ul", *items, look=f"list {block.look}".strip()
                )
                return self._row(block.label, listed, block.look) if block.label else listed
            case Table():
                made = self._table(block)
                return self._row(block.label, made, "") if block.label else made
            case Shares():
                return self.element("ol", *(self._share(row, depth) for row in block.rows), look="causes")
            case Diff():
                lines = self._diff(block.lines)
                return self._row(block.label, lines, "") if block.label else lines
            case Chart():
                title = self.heading(depth, block.title) if block.title else None
                text = self.element("p", block.text, look="where") if block.text else None
                return joined(title, text, self._chart(block.drawing))
            case Preformatted():
                return None

    def _section(self, block: Section, depth: int) -> Html:
        facts = [joined(" ", self._span(fact)) for fact in block.facts]
        title = self.heading(depth, self.inline(block.title), *facts)
        inner = (
            self.scoped(block.blocks, block.anchor, depth + 1)
            if block.own_charts
            else joined(*self.blocks(block.blocks, depth + 1))
        )
        attributes = {"id": block.anchor or None}
        if block.folded:
            return self.element(
                "details", self.element("summary", title), inner, look=block.look, **attributes
            )
        name = "section" if block.look or block.anchor else "div"
        return self.element(name, title, inner, look=block.look, **attributes)

    def _verdict(self, block: Verdict, depth: int) -> Html:
        first, *others = block.sentences
        items = [self.element("li", self.inline(other)) for other in others]
        return self.element(
            "section",
            self.heading(depth, block.word, look="verdict"),
            self.element("p", self.element("b", self.inline(first))),
            self.element("ul", *items, look="list") if items else None,
            *self.blocks(block.blocks, depth + 1),
            look=f"banner {block.look}",
        )

    def _row(self, label: str, body: Html, look: str) -> Html:
        head = self.element("span", label[:1].upper() + label[1:], look="label")
        return self.element("div", head, " ", self.element("div", body), look=f"row {look}".strip())

    def _share(self, row: Share, depth: int) -> Html:
        width = f"width:{100 * min(max(row.share, 0.0), 1.0) if math.isfinite(row.share) else 0:.1f}%"
        head = (
            self.element("span", self.inline(row.title), look="cause"),
            self.element("span", tag("span", style=width), look="bar", aria_hidden="true"),
            self.element("span", percent(row.share), look="share"),
        )
        look = "rest" if row.muted else ""
        if not row.blocks:
            return self.element("li", self.element("div", *head, look="head"), look=look)
        inner = self.element("div", *self.blocks(row.blocks, depth + 1), look="inner")
        return self.element(
            "li", self.element("details", self.element("summary", *head, look="head"), inner), look=look
        )

    def _table(self, block: Table) -> Html:
        columns, rows = without_empty(block)
        heads = [
            self.element("th", c.head, look="number" * (c.align == "right"), scope="col") for c in columns
        ]
        thead = self.element("thead", self.element("tr", *heads)) if any(c.head for c in columns) else None
        body = [
            self.element("tr", *map(self._cell, row, columns), data_group=group)
            for row, group in zip(rows, block.groups or [None] * len(rows), strict=True)
        ]
        made = self.element("table", thead, self.element("tbody", *body), look=block.look)
        search = tag("input", type="search", id="filter", placeholder="Filter", aria_label="Filter the rows")
        return joined(search if block.filtered else None, self.element("div", made, look="wide"))

    def _cell(self, cell: Cell, column: Column) -> Html:
        look = " ".join(word for word in ("number" * (column.align == "right"), column.style) if word)
        if isinstance(cell, Sparkline):
            return self.element("td", look=look)
        value = next((s.value for s in spans(cell) if isinstance(s, Span) and s.value is not None), None)
        shown = None if value is None else repr(value) if math.isfinite(value) else ""
        empty = None if plain(cell) else "yes"
        return self.element(
            "td",
            self.inline(cell),
            look=look,
            data_label=column.head or None,
            data_value=shown,
            data_empty=empty,
        )

    def _diff(self, lines: Sequence[str]) -> Html:
        made: list[Html] = []
        for line in lines:
            made += [self.element("span", line, look=kind_of_line(line)), Html("\n")]
        return self.element("pre", *made, look="patch")

    def _chart(self, drawing: Drawing) -> Html | None:
        """Room for a chart, which the page's script fills when it comes into view."""
        held = self.store.add(drawing)
        signs = [
            self.element(
                "li",
                self.element("span", look=f"sign {key.sign}", style=f"color:{key.colour}"),
                key.name,
                data_group=key.group,
            )
            for key in held.key
        ]
        room = self.element(
            "div",
            look="chart",
            role="img",
            aria_label=drawing.label,
            data_run=self.name,
            data_chart=held.number,
            style=f"height:{held.height}px",
        )
        return self.element("figure", self.element("ul", *signs, look="key") if signs else None, room)

    def inline(self, text: Prose) -> Html:
        return joined(*map(self._span, spans(text)))

    def _span(self, one: str | Span) -> Html:
        if isinstance(one, str):
            return prose(one)
        if one.kind == "swatch":
            return tag("span", cls="swatch", style=f"background:{one.look}")
        names = {"code": "code", "strong": "b"}
        looks = {"muted": "where", "badge": f"badge {one.look}"}
        if not one.kind and not one.link and not one.look:
            return joined(one.text)
        made = self.element(names.get(one.kind, "span"), one.text, look=looks.get(one.kind, one.look))
        return tag("a", one.text, href=f"#{one.link}") if one.link else made


class _Notebook(_Page):
    """Looks are style attributes."""

    _TAGS: ClassVar = {
        "b": "strong",
        "section": "div",
        "figure": "div",
        "thead": "tbody",
        "th": "td",
        "pre": "div",
    }
    _KEPT = ("open", "src", "alt", "width", "height", "style")
    _CELL = "text-align:left;vertical-align:top;padding:2px 10px 2px 0;border:0"
    _STYLES: ClassVar = {
        "td": _CELL,
        "table": "border-collapse:collapse;margin:4px 0",
        "ul": "margin:2px 0 6px;padding-left:20px",
        "ol": "margin:2px 0 6px;padding-left:24px",
        "h4": "margin:14px 0 4px",
        "p": "margin:2px 0",
        "label": "opacity:0.7",
        "where": "opacity:0.7",
        "muted": "opacity:0.7",
        "patch": "margin:4px 0;overflow-x:auto;line-height:1.35;white-space:pre;font-family:monospace",
        "add": "color:#2e9560",
        "remove": "color:#e0474c",
        "number": f"{_CELL};text-align:right;white-space:nowrap",
    }

    def element(self, name: str, *children: str | None, look: str = "", **attributes: object) -> Html:
        name = self._TAGS.get(name, name)
        style = next((self._STYLES[word] for word in (*look.split(), name) if word in self._STYLES), None)
        kept = {key: value for key, value in attributes.items() if key in self._KEPT}
        return tag(name, *children, **{"style": style, **kept})

    def heading(self, depth: int, *children: str | None, look: str = "") -> Html:
        del depth
        return self.element("h4", *children, look=look)

    def _share(self, row: Share, depth: int) -> Html:
        del depth
        return self.element("li", self.element("strong", percent(row.share)), " ", self.inline(row.title))

    def _span(self, one: str | Span) -> Html:
        return super()._span(Span(one.text, one.kind) if isinstance(one, Span) else one)

    def scoped(self, blocks: Sequence[Block], name: str, depth: int) -> Html:
        del name
        return joined(*self.blocks(blocks, depth))

    def _chart(self, drawing: Drawing) -> Html | None:
        if not isinstance(drawing, Curves):
            return None
        from traindx.report.to_svg import svg

        image, width, height = svg(drawing)
        data = base64.b64encode(encodable(image).encode()).decode()
        look = "max-width:100%;height:auto;margin:8px 0"
        source = f"data:image/svg+xml;base64,{data}"
        return self.element("img", src=source, alt=drawing.label, width=width, height=height, style=look)


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
    return (_ASSETS / name).read_text(encoding="utf-8")


@cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    script: str = get_plotlyjs()
    return script.replace("\r\n", "\n")
