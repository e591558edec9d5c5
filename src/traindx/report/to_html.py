"""A document as a page of HTML that loads nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from traindx.report import document as doc
from traindx.report.charts import Drawing
from traindx.report.curves import POINTS_MOST
from traindx.report.document import plain, spans, without_empty
from traindx.report.page.frame import framed
from traindx.report.page.markup import Html, joined, json_script, prose, tag
from traindx.report.places import kind_of_line
from traindx.report.text import capitalised, percent
from traindx.report.to_plotly import FigureStore

_POINTS_IN_ALL, _POINTS_LEAST, _CURVES_GUESSED = 240_000, 150, 4


@np.errstate(all="ignore")  # logs hold numbers near the ends of the range
def page(document: doc.Document, scripts: Sequence[str] = ()) -> str:
    """The whole file; `scripts` are further ones of ours, run last."""
    stores = sum(isinstance(block, doc.Section) and block.own_charts for block in document.blocks)
    share = _POINTS_IN_ALL // (_CURVES_GUESSED * max(stores, 1))
    renderer = HtmlPage(max(_POINTS_LEAST, min(POINTS_MOST, share)))
    title = tag("h1", renderer.inline(document.title), cls="name")
    main = joined(title, renderer.scoped(document.blocks, document.name, 0))
    return framed(f"{plain(document.title)}: {document.what}", document.what, main, document.about, scripts)


class HtmlPage:
    """Looks are classes of the style sheet."""

    def __init__(self, points: int) -> None:
        self.points = points
        self.store = FigureStore(points)
        self.name = "page"

    def element(self, name: str, *children: str | None, look: str = "", **attributes: object) -> Html:
        return tag(name, *children, cls=look or None, **attributes)

    def heading(self, depth: int, *children: str | None, look: str = "") -> Html:
        return self.element(f"h{min(depth + 2, 5)}", *children, look=look)

    def scoped(self, blocks: Sequence[doc.Block], name: str, depth: int) -> Html:
        """Blocks, and the data of their charts."""
        before = self.store, self.name
        self.store, self.name = FigureStore(self.points), name
        markup = joined(*self.blocks(blocks, depth))
        if self.store.figures:
            markup = joined(markup, json_script(self.store.json(), f"{name}-charts"))
        self.store, self.name = before
        return markup

    def blocks(self, blocks: Iterable[doc.Block], depth: int) -> list[Html]:
        return [markup for block in blocks if (markup := self._block(block, depth))]

    def _block(self, block: doc.Block, depth: int) -> Html | None:
        match block:
            case doc.Section():
                return self._section(block, depth)
            case doc.Details():
                inner = self.element("div", *self.blocks(block.blocks, depth), look="inner")
                head = self.element("summary", self.inline(block.title))
                return self.element("details", head, inner, look=block.look, open=block.is_open)
            case doc.Verdict():
                return self._verdict(block, depth)
            case doc.Text():
                return self.element("p", self.inline(block.prose), look=block.look)
            case doc.Labelled():
                return self._row(block.label, self.inline(block.prose), block.look)
            case doc.Items():
                items = [self.element("li", self.inline(item)) for item in block.items]
                listed = self.element(
                    "ol" if block.numbered else "ul", *items, look=f"list {block.look}".strip()
                )
                return self._row(block.label, listed, block.look) if block.label else listed
            case doc.DocumentTable():
                table = self._table(block)
                return self._row(block.label, table, "") if block.label else table
            case doc.Shares():
                return self.element("ol", *(self._share(row, depth) for row in block.rows), look="causes")
            case doc.Diff():
                lines = self._diff(block.lines)
                return self._row(block.label, lines, "") if block.label else lines
            case doc.Chart():
                title = self.heading(depth, block.title) if block.title else None
                text = self.element("p", block.text, look="where") if block.text else None
                return joined(title, text, self._chart(block.drawing))
            case doc.Preformatted():
                return None

    def _section(self, block: doc.Section, depth: int) -> Html:
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

    def _verdict(self, block: doc.Verdict, depth: int) -> Html:
        first, *others = block.sentences
        items = [self.element("li", self.inline(sentence)) for sentence in others]
        return self.element(
            "section",
            self.heading(depth, block.word, look="verdict"),
            self.element("p", self.element("b", self.inline(first))),
            self.element("ul", *items, look="list") if items else None,
            *self.blocks(block.blocks, depth + 1),
            look=f"banner {block.look}",
        )

    def _row(self, label: str, body: Html, look: str) -> Html:
        head = self.element("span", capitalised(label), look="label")
        return self.element("div", head, " ", self.element("div", body), look=f"row {look}".strip())

    def _share(self, row: doc.Share, depth: int) -> Html:
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

    def _table(self, block: doc.DocumentTable) -> Html:
        columns, rows = without_empty(block)
        heads = [
            self.element("th", c.head, look="number" * (c.align == "right"), scope="col") for c in columns
        ]
        thead = self.element("thead", self.element("tr", *heads)) if any(c.head for c in columns) else None
        body = [
            self.element("tr", *map(self._cell, row, columns), data_group=group)
            for row, group in zip(rows, block.groups or [None] * len(rows), strict=True)
        ]
        table = self.element("table", thead, self.element("tbody", *body), look=block.look)
        search = tag("input", type="search", id="filter", placeholder="Filter", aria_label="Filter the rows")
        return joined(search if block.filtered else None, self.element("div", table, look="wide"))

    def _cell(self, cell: doc.Cell, column: doc.TableColumn) -> Html:
        look = " ".join(word for word in ("number" * (column.align == "right"), column.style) if word)
        if isinstance(cell, doc.Sparkline):
            return self.element("td", look=look)
        value = next((s.value for s in spans(cell) if isinstance(s, doc.Span) and s.value is not None), None)
        sort_value = None if value is None else repr(value) if math.isfinite(value) else ""
        empty = None if plain(cell) else "yes"
        return self.element(
            "td",
            self.inline(cell),
            look=look,
            data_label=column.head or None,
            data_value=sort_value,
            data_empty=empty,
        )

    def _diff(self, lines: Sequence[str]) -> Html:
        markup: list[Html] = []
        for line in lines:
            markup += [self.element("span", line, look=kind_of_line(line)), Html("\n")]
        return self.element("pre", *markup, look="patch")

    def _chart(self, drawing: Drawing) -> Html | None:
        """Room for a chart, which the page's script fills when it comes into view."""
        chart_place = self.store.add(drawing)
        signs = [
            self.element(
                "li",
                self.element("span", look=f"sign {key.sign}", style=f"color:{key.colour}"),
                key.name,
                data_group=key.group,
            )
            for key in chart_place.key
        ]
        room = self.element(
            "div",
            look="chart",
            role="img",
            aria_label=drawing.label,
            data_run=self.name,
            data_chart=chart_place.number,
            style=f"height:{chart_place.height}px",
        )
        return self.element("figure", self.element("ul", *signs, look="key") if signs else None, room)

    def inline(self, text: doc.Prose) -> Html:
        return joined(*map(self._span, spans(text)))

    def _span(self, span: str | doc.Span) -> Html:
        if isinstance(span, str):
            return prose(span)
        if span.kind == "swatch":
            return tag("span", cls="swatch", style=f"background:{span.look}")
        names = {"code": "code", "strong": "b"}
        looks = {"muted": "where", "badge": f"badge {span.look}"}
        if not span.kind and not span.link and not span.look:
            return joined(span.text)
        element = self.element(names.get(span.kind, "span"), span.text, look=looks.get(span.kind, span.look))
        return tag("a", span.text, href=f"#{span.link}") if span.link else element
