"""HTML that no text of a log can break: text is escaped unless it is `Html` already."""

from __future__ import annotations

import html
import re

from traindx.report.json_text import json_bytes
from traindx.report.text import visible

_CODE = re.compile(r"`([^`]+)`")
_EMPTY = frozenset({"meta", "input", "br", "img"})


class Html(str):
    """Finished markup."""

    __slots__ = ()


def tag(name: str, /, *children: str | None, **attributes: object) -> Html:
    """An element. `cls` is class, `data_run` is data-run; attributes that are None are left out."""
    attribute_text = "".join(
        f" {_attribute(key)}" if value is True else f' {_attribute(key)}="{escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _EMPTY:
        return Html(f"<{name}{attribute_text}>")
    return Html(f"<{name}{attribute_text}>{joined(*children)}</{name}>")


def joined(*children: str | None) -> Html:
    """Children one after the other, plain text escaped."""
    return Html("".join(child if isinstance(child, Html) else escaped(child) for child in children if child))


def escaped(text: str) -> Html:
    """One line of text with nothing hidden in it and nothing that HTML would read."""
    return Html(html.escape(visible(text)))


def prose(text: str) -> Html:
    """A sentence with `code` between backticks."""
    return Html(_CODE.sub(r"<code>\1</code>", escaped(text)))


def json_script(data: object, name: str) -> Html:
    """Data for the page's script; no character in it can end the element."""
    text = json_bytes(data, indent=False).decode()
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Html(f'<script type="application/json" id="{escaped(name)}">{text}</script>')


def _attribute(key: str) -> str:
    return {"cls": "class"}.get(key, key.replace("_", "-"))
