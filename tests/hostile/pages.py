"""What a reader makes of a page: the elements of HTML, the structure of Markdown."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token

_NEVER = ("html", "link", "image", "s_", "hr", "blockquote", "code_block")
_PICTURE = "data:image/png;base64,"
_ELEMENTS = frozenset(
    "html head meta title style script body header p b button noscript main footer h1 h2 h3 h4 h5 section "
    "div span ul ol li details summary table thead tbody tr th td a code pre figure input dl dt dd"
    " img article".split()
)


class Page(HTMLParser):
    """Tags in their order, the names of all attributes with the values that act, and the scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.programs: list[str] = []
        self._program = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.tags.append(tag)
        acting = {"id", "class", "style", "href", "src", "type", "http-equiv", "content"}
        self.attributes += [(name, (value or "") if name in acting else "") for name, value in attrs]
        self._program = tag == "script" and "type" not in told
        if self._program:
            self.programs.append("")

    def handle_data(self, data: str) -> None:
        if self._program and self.cdata_elem == "script":
            self.programs[-1] += data


def markdown_shape(text: str) -> list[str]:
    """The headings and tables of a page in their order; what a name must never make is an error."""
    shape: list[str] = []

    def walk(tokens: list[Token]) -> None:
        for token in tokens:
            assert not token.type.startswith(_NEVER), token
            if token.type in ("heading_open", "table_open", "fence"):
                shape.append(token.tag)
            walk(token.children or [])

    walk(MarkdownIt("gfm-like", {"linkify": False}).parse(text))
    for block in re.findall(r"^\|.*(?:\n\|.*)*", text, flags=re.M):
        cells = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in block.splitlines()}
        assert len(cells) == 1, block
    return shape


def check_page(page: Page) -> None:
    """Nothing acts but our own scripts, nothing is loaded, links stay in the page."""
    assert set(page.tags) <= _ELEMENTS
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not [value for name, value in page.attributes if name == "href" and not value.startswith("#")]
    assert not [value for name, value in page.attributes if name == "src" and not value.startswith(_PICTURE)]
