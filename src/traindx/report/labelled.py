"""Texts beside labels: the shape of every line of a diagnosis on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from traindx.report.layout import Screen, fit, paragraph
from traindx.report.text import visible

INDENT = 12
_SPACE = re.compile(r"\s+(?!%)")  # a number stays with its per cent sign


def wrap(text: str, width: int, screen: Screen) -> list[str]:
    """A sentence made safe to show, over as many lines as it needs."""
    words = _SPACE.split(screen.plain(visible(text)).strip())
    return [screen.plain(line) for line in paragraph(words, width, between=" ")] or [""]


def cut(text: str, width: int, screen: Screen, keep: Literal["start", "end"] = "start") -> str:
    """As much of a text as one line takes."""
    return screen.plain(fit(screen.plain(visible(text, 4 * width)), width, keep))


def label(text: str, screen: Screen) -> str:
    return "  " + screen.paint(f"{text:<{INDENT - 3}} ", "dim")


def labelled(name: str, text: str, screen: Screen, style: str = "") -> Iterator[str]:
    """A label and a text beside it, its further lines under its first."""
    yield from hanging("", text, screen, name=name, style=style)


def hanging(head: str, text: str, screen: Screen, *, name: str = "", style: str = "") -> Iterator[str]:
    """A text behind a head of its own: a number, a dash."""
    lines = wrap(text, screen.width - INDENT - len(head), screen)
    yield label(name, screen) + head + screen.paint(lines[0], style)
    yield from (" " * (INDENT + len(head)) + screen.paint(line, style) for line in lines[1:])


def bullets(name: str, texts: Sequence[str], screen: Screen) -> Iterator[str]:
    """Several sentences, each with a dash; one alone needs none."""
    for number, text in enumerate(texts):
        head = "- " if len(texts) > 1 else ""
        yield from hanging(head, text, screen, name=name if number == 0 else "")
