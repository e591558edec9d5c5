"""The content of a report, independent of how a terminal, Markdown or a page renders it.

All text may come from a log and is untrusted: the renderers escape it, the builders never do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from traindx.core.number_text import readable

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray
    from traindx.report.charts import Drawing


@dataclass(frozen=True)
class Span:
    """Text of one kind inside a sentence. `look` colours it, `link` names the anchor it leads to.

    `value` is what a table is sorted by, where that is not the text.
    """

    text: str
    kind: Literal["", "code", "strong", "muted", "badge", "swatch"] = ""
    look: str = ""
    link: str = ""
    value: float | None = None


# A plain string is a sentence with `code` between backticks.
Prose = str | Span | tuple[str | Span, ...]


@dataclass(frozen=True, eq=False)
class Sparkline:
    """A curve inside a table, for surfaces that can draw one in a line."""

    x: FloatArray
    y: FloatArray
    span: tuple[float, float]
    width: int
    logarithmic: bool = True


Cell = Prose | Sparkline


@dataclass(frozen=True)
class TableColumn:
    """`least` is how narrow a terminal may make it; 0 lets it be left out when there is no room.

    With `wrap` a cell continues over several lines instead of being cut.
    """

    head: str
    align: Literal["left", "right"] = "left"
    least: int | None = None
    keep: Literal["start", "end"] = "start"
    style: str = ""
    wrap: bool = False


@dataclass(frozen=True)
class Verdict:
    """The result: a word, sentences, and the blocks directly below them. `look` is its colour."""

    word: str
    sentences: tuple[Prose, ...]
    look: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Text:
    prose: Prose
    look: str = ""


@dataclass(frozen=True)
class Labelled:
    """A text with its label."""

    label: str
    prose: Prose
    look: str = ""


@dataclass(frozen=True)
class Items:
    items: tuple[Prose, ...]
    label: str = ""
    numbered: bool = False
    look: str = ""


@dataclass(frozen=True)
class DocumentTable:
    """Columns without any content are left out. `groups` link rows with the curves of a chart."""

    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    label: str = ""
    look: str = ""
    filtered: bool = False
    groups: tuple[int, ...] = ()


@dataclass(frozen=True)
class Share:
    """One of several possibilities, its probability, and further blocks about it."""

    share: float
    title: Prose
    cells: tuple[Prose, ...] = ()
    blocks: tuple[Block, ...] = ()
    muted: bool = False


@dataclass(frozen=True)
class Shares:
    """Things ranked by their share: bars where there is room for them. `heads` name their cells."""

    rows: tuple[Share, ...]
    label: str = ""
    heads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diff:
    lines: tuple[str, ...]
    label: str = ""


@dataclass(frozen=True)
class Chart:
    """A drawing for surfaces that can show it; `sparklines` are the curves a terminal draws of it."""

    drawing: Drawing
    sparklines: int = 0
    title: str = ""
    text: str = ""


@dataclass(frozen=True)
class Preformatted:
    """Lines drawn with letters, for terminals only; a style for each."""

    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Details:
    """Blocks that the reader can open."""

    title: Prose
    blocks: tuple[Block, ...]
    is_open: bool = False
    look: str = ""


@dataclass(frozen=True)
class Section:
    """A part with a heading; one that is `folded` is opened by its reader, where that is possible.

    With `own_charts` a page holds the data of its charts apart from those of other sections.
    """

    title: Prose
    blocks: tuple[Block, ...]
    look: str = ""
    anchor: str = ""
    folded: bool = False
    own_charts: bool = False
    facts: tuple[Span, ...] = ()


Block = (
    Verdict
    | Text
    | Labelled
    | Items
    | DocumentTable
    | Shares
    | Diff
    | Chart
    | Preformatted
    | Details
    | Section
)


@dataclass(frozen=True)
class Document:
    """A whole report. `about` explains how to read it; the data of its charts go by its `name`."""

    title: Prose
    what: str
    blocks: tuple[Block, ...]
    about: str = ""
    name: str = "page"


def spans(prose: Prose) -> tuple[str | Span, ...]:
    """The parts of a text; numbers in sentences as a person would write them."""
    parts = prose if isinstance(prose, tuple) else (prose,)
    return tuple(readable(part) if isinstance(part, str) else part for part in parts)


def plain(prose: Prose) -> str:
    """The text alone."""
    return "".join(part if isinstance(part, str) else part.text for part in spans(prose))


def code(text: str) -> Span:
    return Span(text, "code")


def strong(text: str) -> Span:
    return Span(text, "strong")


def listed(title: Prose, items: Iterable[Prose], look: str = "") -> Iterator[Section]:
    """A section with a list; none when there is nothing in it."""
    listed_items = tuple(items)
    if listed_items:
        yield Section(title, (Items(listed_items),), look)


def without_empty(table: DocumentTable) -> tuple[list[TableColumn], list[list[Cell]]]:
    """The columns in which a cell has content, and their cells."""
    keep = [i for i in range(len(table.columns)) if any(has_content(row[i]) for row in table.rows)]
    return [table.columns[i] for i in keep], [[row[i] for i in keep] for row in table.rows]


def has_content(cell: Cell) -> bool:
    return isinstance(cell, Sparkline) or bool(plain(cell))
