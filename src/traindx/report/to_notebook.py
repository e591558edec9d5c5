"""A document as part of a notebook.

Notebooks that are opened again drop scripts, style sheets and drawings. So looks are style attributes, in
colours that do on light and dark pages alike, and charts are images.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import ClassVar

from traindx.report import document as doc
from traindx.report.charts import Curves, Drawing
from traindx.report.page.markup import Html, joined, tag
from traindx.report.text import encodable, percent
from traindx.report.to_html import HtmlPage
from traindx.report.to_svg import svg


def fragment(blocks: Iterable[doc.Block], colour: str) -> str:
    """Part of a notebook, with a bar of the colour at its side."""
    edge = f"border-left:4px solid {colour};padding:4px 0 4px 14px;max-width:760px;line-height:1.45"
    return encodable(tag("div", *_Notebook(0).blocks(blocks, 0), style=edge))


class _Notebook(HtmlPage):
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
        allowed = {key: value for key, value in attributes.items() if key in self._KEPT}
        return tag(name, *children, **{"style": style, **allowed})

    def heading(self, depth: int, *children: str | None, look: str = "") -> Html:
        del depth
        return self.element("h4", *children, look=look)

    def _share(self, row: doc.Share, depth: int) -> Html:
        del depth
        return self.element("li", self.element("strong", percent(row.share)), " ", self.inline(row.title))

    def _span(self, span: str | doc.Span) -> Html:
        return super()._span(doc.Span(span.text, span.kind) if isinstance(span, doc.Span) else span)

    def scoped(self, blocks: Sequence[doc.Block], name: str, depth: int) -> Html:
        del name
        return joined(*self.blocks(blocks, depth))

    def _chart(self, drawing: Drawing) -> Html | None:
        if not isinstance(drawing, Curves):
            return None
        image, width, height = svg(drawing)
        data = base64.b64encode(encodable(image).encode()).decode()
        look = "max-width:100%;height:auto;margin:8px 0"
        source = f"data:image/svg+xml;base64,{data}"
        return self.element("img", src=source, alt=drawing.label, width=width, height=height, style=look)
