"""A document as lines of text for a terminal or a pipe: the only place that makes text safe for one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from traindx.report import document as doc
from traindx.report.document import plain, spans, without_empty
from traindx.report.layout import Screen, cells, fit, paragraph, table
from traindx.report.places import kind_of_line
from traindx.report.sparkline import sparkline
from traindx.report.text import percent, short, visible

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray
    from traindx.report.charts import Curves, Line

INDENT = 12
_SPACE = re.compile(r"\s+(?!%)")  # a number stays with its per cent sign
_DIFF = {"add": "green", "remove": "red", "head": "dim"}
_BAR, _BAR_NARROW, _NARROW = 20, 10, 80
_CURVE_MOST, _NAME_LEAST, _NAME_MOST = 64, 8, 22
_MARKS_MOST = 3


def lines(blocks: Iterable[doc.Block], screen: Screen) -> list[str]:
    """All blocks one after the other, never two empty lines together."""
    text_lines: list[str] = []
    for line in _Terminal(screen).blocks(blocks, 0):
        if line or (text_lines and text_lines[-1]):
            text_lines.append(line)
    return text_lines[:-1] if text_lines and not text_lines[-1] else text_lines


def wrap(text: str, width: int, screen: Screen) -> list[str]:
    """A sentence made safe to show, over as many lines as it needs."""
    words = _SPACE.split(screen.plain(visible(text)).strip())
    return [screen.plain(line) for line in paragraph(words, width, between=" ")] or [""]


def cut(text: str, width: int, screen: Screen, keep: Literal["start", "end"] = "start") -> str:
    """As much of a text as one line takes."""
    return screen.plain(fit(screen.plain(visible(text, 4 * width)), width, keep))


class _Terminal:
    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.paint = screen.paint

    def blocks(self, blocks: Iterable[doc.Block], depth: int) -> Iterator[str]:
        for block in blocks:
            match block:
                case doc.Section():
                    yield from self._section(block, depth)
                case doc.Details():
                    yield from ("", "  " + self.paint(self._cut(block.title, 2), "bold"))
                    yield from self.blocks(block.blocks, depth + 1)
                case doc.Chart():
                    yield from ("", *self._chart(block), "")
                case doc.Verdict():
                    yield from self._verdict(block)
                    texts = [part for part in block.blocks if isinstance(part, doc.Text)]
                    rest = [part for part in block.blocks if not isinstance(part, doc.Text)]
                    yield from (*self.blocks(texts, 1), "", *self.blocks(rest, 1), "")
                case doc.Text():
                    yield from self._text(block)
                case doc.Labelled():
                    yield from self._hanging(block.label, "", block.prose, block.look)
                case doc.Items():
                    yield from self._items(block)
                case doc.DocumentTable():
                    yield from self._table(block)
                case doc.Shares():
                    yield from self._shares(block, depth)
                case doc.Diff():
                    yield from self._diff(block)
                case doc.Preformatted():
                    yield from (self.paint(self.screen.plain(visible(t)), style) for t, style in block.lines)

    def _label(self, text: str) -> str:
        return "  " + self.paint(f"{text:<{INDENT - 3}} ", "dim")

    def _cut(self, prose: doc.Prose, taken: int, keep: Literal["start", "end"] = "start") -> str:
        return cut(plain(prose), self.screen.width - taken, self.screen, keep)

    def _hanging(self, label: str, head: str, prose: doc.Prose, style: str = "") -> Iterator[str]:
        """A text behind a label and a head of its own (a number, a dash), further lines under its first."""
        if len(label) > INDENT - 3:
            yield "  " + self.paint(cut(f"{label}:", self.screen.width - 2, self.screen), "dim")
            label = ""
        first, *rest = wrap(plain(prose), self.screen.width - INDENT - len(head), self.screen)
        yield self._label(label) + head + self.paint(first, style or _style(prose))
        yield from (" " * (INDENT + len(head)) + self.paint(line, style or _style(prose)) for line in rest)

    def _items(self, block: doc.Items) -> Iterator[str]:
        for number, item in enumerate(block.items):
            head = f"{number + 1}. " if block.numbered else "- " if len(block.items) > 1 else ""
            yield from self._hanging(block.label if number == 0 else "", head, item, block.look)

    def _text(self, block: doc.Text) -> Iterator[str]:
        if block.look == "title":
            yield self.paint(cut(plain(block.prose), self.screen.width, self.screen, "end"), "title")
        elif block.look == "line":  # never wrapped: programs read it
            parts = (part if isinstance(part, doc.Span) else doc.Span(part) for part in spans(block.prose))
            yield "".join(self.paint(self.screen.plain(visible(p.text)), p.look or p.kind) for p in parts)
        elif block.look == "name":
            yield " " * INDENT + self.paint(self._cut(block.prose, INDENT, "end"), "dim")
        else:
            indent = "" if block.look == "whole" else "  "
            for line in wrap(plain(block.prose), self.screen.width - 2, self.screen):
                yield indent + self.paint(
                    line, (block.look if block.look != "whole" else "") or _style(block.prose)
                )

    def _verdict(self, block: doc.Verdict) -> Iterator[str]:
        word = f"{block.word:<{INDENT}}"
        for number, text in enumerate(block.sentences):
            for line in wrap(plain(text), self.screen.width - INDENT, self.screen):
                yield self.paint(word, block.look) + self.paint(line, "bold" if number == 0 else "")
                word = " " * INDENT

    def _section(self, block: doc.Section, depth: int) -> Iterator[str]:
        if depth:
            yield from ("", "  " + self.paint(self._cut(block.title, 2), "bold"))
        else:
            yield from ("", self._rule(block.title, block.facts), "")
        yield from self.blocks(block.blocks, depth + 1)
        yield ""

    def _rule(self, title: doc.Prose, facts: Sequence[doc.Span]) -> str:
        """A title, what belongs to it, and a thin line to the edge."""
        facts_width = sum(cells(fact.text) + 3 for fact in facts)
        heading = self._cut(title, facts_width + 4)
        dot, line = self.screen.plain(" · "), self.screen.plain("─")
        room = max(self.screen.width - cells(heading) - facts_width - 1, 0)
        painted = [self.paint(heading, "bold"), *(self.paint(visible(f.text), f.look) for f in facts)]
        return dot.join(painted) + " " + self.paint(line * room, "dim")

    def _table(self, block: doc.DocumentTable) -> Iterator[str]:
        columns, rows = without_empty(block)
        texts = [[self._cell(cell) for cell in row] for row in rows]
        styles = [["" if isinstance(cell, doc.Sparkline) else _style(cell) for cell in row] for row in rows]
        indent = " " * INDENT if block.label else "  "
        table_lines = table(columns, texts, self.screen, indent=indent, styles=styles)
        if block.label and table_lines:
            table_lines[0] = self._label(block.label) + table_lines[0][INDENT:]
        yield from table_lines

    def _cell(self, cell: doc.Cell) -> str:
        if isinstance(cell, doc.Sparkline):
            return self._spark(cell.x, cell.y, cell.span, cell.width, logarithmic=cell.logarithmic)
        return self.screen.plain(visible(plain(cell), 400))

    def _shares(self, block: doc.Shares, depth: int) -> Iterator[str]:
        wide = max((len(percent(row.share)) for row in block.rows), default=0)
        for number, row in enumerate(block.rows):
            bar = self.paint(self._bar(row.share), "cyan")
            text = self._cut(row.title, INDENT + wide + self._bar_width + 4)
            style = "dim" if row.muted else "bold" if number == 0 else ""
            label = self._label(block.label if number == 0 else "")
            yield f"{label}{percent(row.share):>{wide}}  {bar}  {self.paint(text, style)}"
        for row in block.rows:
            if row.blocks:
                yield from self._opened(row, depth)

    def _opened(self, row: doc.Share, depth: int) -> Iterator[str]:
        yield from ("", *self._hanging("or", "", f"{plain(row.title)} ({percent(row.share)})", "bold"))
        yield from self.blocks(row.blocks, depth + 1)

    @property
    def _bar_width(self) -> int:
        return _BAR if self.screen.width >= _NARROW else _BAR_NARROW

    def _bar(self, share: float) -> str:
        """Eighths of a cell where the terminal has them."""
        width = self._bar_width
        eighths = round(min(max(share, 0.0), 1.0) * width * 8) if share == share else 0
        if not self.screen.unicode:
            return f"{'#' * max(round(eighths / 8), eighths > 0):<{width}}"
        return f"{'█' * (eighths // 8) + ('', *'▏▎▍▌▋▊▉')[eighths % 8]:<{width}}"

    def _diff(self, block: doc.Diff) -> Iterator[str]:
        """Lines are cut, not wrapped."""
        for number, line in enumerate(block.lines):
            style = _DIFF.get(kind_of_line(line), "")
            label = self._label(block.label if number == 0 else "")
            yield label + self.paint(cut(line, self.screen.width - INDENT, self.screen), style)

    def _chart(self, block: doc.Chart) -> Iterator[str]:
        """A line for each of the first curves with its first and last value; below them the marks."""
        from traindx.report.charts import Curves

        if not isinstance(block.drawing, Curves) or not block.sparklines:
            return
        curves = block.drawing
        curve_lines = [line for panel in curves.panels for line in panel.lines if line.x.size][
            : block.sparklines
        ]
        if not curve_lines:
            return
        names = [visible(line.name, 60) for line in curve_lines]
        name_width = min(max(_NAME_LEAST, *map(len, names)), _NAME_MOST)
        ends = [
            self.screen.plain(_ends(line, max(len(short(float(o.y[0]))) for o in curve_lines)))
            for line in curve_lines
        ]
        width = min(_CURVE_MOST, self.screen.width - 6 - name_width - max(map(len, ends)))
        for line, name, text in zip(curve_lines, names, ends, strict=True):
            label = cut(name, name_width, self.screen)
            spark = self._spark(line.x, line.y, curves.span, width, logarithmic=line.smoother is not None)
            padded = self.paint(label + " " * (name_width - cells(label)), "dim")
            yield f"  {padded}  {self.paint(spark, 'curve')}  {text}"
        marks = _marks(curves, width)
        if marks:
            yield " " * (4 + name_width) + self.paint(self.screen.plain(marks), "red")

    def _spark(
        self, x: FloatArray, y: FloatArray, span: tuple[float, float], width: int, *, logarithmic: bool
    ) -> str:
        return sparkline(
            x,
            y,
            start=span[0],
            end=span[1],
            width=width,
            logarithmic=logarithmic,
            unicode=self.screen.unicode,
        )


def _style(prose: doc.Prose) -> str:
    """Sentences of one span may have a colour of their own."""
    only = spans(prose)[0] if len(spans(prose)) == 1 else ""
    return "" if isinstance(only, str) else only.look or only.kind


def _ends(line: Line, width: int) -> str:
    first = f"{short(float(line.y[0])):>{width}}"
    return f"{first} → {short(float(line.y[-1]))}" if line.y.size > 1 else first


def _marks(curves: Curves, width: int) -> str:
    """An arrow and its step under each place; what would run into an earlier one is left out."""
    start, end = curves.span
    marks = [mark for panel in curves.panels[:1] for mark in panel.marks if mark.kind in ("onset", "best")]
    text_line = [" "] * width
    for mark in marks[:_MARKS_MOST]:
        if not start <= mark.step <= end or start == end:
            continue
        column = min(int((mark.step - start) * ((width - 1e-9) / (end - start))), width - 1)
        text = f"{curves.axis} {short(mark.step)}" if mark.kind == "onset" else f"best {short(mark.step)}"
        arrow = f"▲ {text}" if column + 2 + len(text) <= width else f"{text} ▲"
        first = column if arrow.startswith("▲") else column + 1 - len(arrow)
        if first >= 0 and not "".join(text_line[max(first - 2, 0) : first + len(arrow) + 2]).strip():
            text_line[first : first + len(arrow)] = arrow
    return "".join(text_line).rstrip()
