"""Markdown drawn for a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown
from rich.theme import Theme

if TYPE_CHECKING:
    from traindx.report.layout import Screen


_ASCII = {0x2022: "*", 0x2500: "-", 0x2501: "-"}
# No background: it must be readable on light and on dark terminals.
_THEME = Theme(
    {
        "markdown.h1": "bold cyan",
        "markdown.h2": "bold",
        "markdown.code": "cyan",
        "markdown.table.header": "dim",
        "markdown.table.border": "dim",
        "markdown.item.number": "default",
    }
)


class _Heading(Heading):
    """Headings at the left, where the text is."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        self.text.justify = "left"
        yield self.text


class _Page(Markdown):
    elements: ClassVar = {**Markdown.elements, "heading_open": _Heading}


def rendered(text: str, screen: Screen) -> str:
    """Markdown as lines for a screen."""
    out = io.StringIO()
    console = Console(
        file=out,
        theme=_THEME,
        width=screen.width,
        force_terminal=screen.colour,
        no_color=not screen.colour,
        color_system="standard" if screen.colour else None,
        legacy_windows=False,
        safe_box=not screen.unicode,
    )
    console.print(_Page(text, code_theme="ansi_dark", hyperlinks=False))
    plain_text = out.getvalue() if screen.unicode else out.getvalue().translate(_ASCII)
    return "\n".join(line.rstrip() for line in plain_text.split("\n"))
