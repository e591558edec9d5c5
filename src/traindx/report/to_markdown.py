"""A document as Markdown: the only place that makes text safe for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from traindx import __version__
from traindx.report import document as doc
from traindx.report.document import spans, without_empty
from traindx.report.text import percent, visible

_CODE = re.compile(r"(`[^`]*[^`\s][^`]*`)")
_SPECIAL = re.compile(r"[\\`*\[\]|~$!]|(?<![^\W_])_|_(?![^\W_])|&(?=#|\w+;)|:(?=//)|(?<=www)\.|@")
_LEADING = re.compile(r"^(\d{1,9})([.)])(?=\s|$)|^([#+=>-])")


def escaped(text: str) -> str:
    """One line of prose; text between backticks stays code."""
    return _led(_escaped_parts(visible(text).strip()))


def _escaped_parts(text: str) -> str:
    parts = _CODE.split(visible(text))
    return "".join(
        code(part[1:-1]) if number % 2 else _prose(part) for number, part in enumerate(parts) if part
    )


def _led(line: str) -> str:
    """Nothing at the beginning of a line makes it a heading or a list."""
    return _LEADING.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", line)


def _prose(text: str) -> str:
    marked = _SPECIAL.sub(lambda match: "&amp;" if match[0] == "&" else "\\" + match[0], text)
    return marked.replace("<", "&lt;")


def code(text: str, limit: int = 400) -> str:
    """A name or a value set as code, whatever backticks it holds.

    With a bar in it, it is prose: in a table a bar ends the cell, and the code with it.
    """
    name = visible(text, limit)
    if not name.strip():
        return "(no name)"
    if "|" in name:
        return _prose(name)
    runs = [len(ticks) for ticks in re.findall("`+", name)]
    fence = "`" * next(size for size in range(1, len(runs) + 2) if size not in runs)
    pad = " " if "`" in (name[0], name[-1]) or name[0] == name[-1] == " " else ""
    return f"{fence}{pad}{name}{pad}{fence}"


def fenced(lines: Sequence[str], language: str = "") -> list[str]:
    """Lines set as a block of code; the fence is longer than any run of backticks in them."""
    longest = max((len(ticks) for line in lines for ticks in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *(visible(line) for line in lines), fence]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """A table of cells that are already escaped."""
    rule = ["---:" if number in right else "---" for number in range(len(head))]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]


def markdown(document: doc.Document) -> str:
    """The whole document."""
    lines = [f"# {_inline(document.title)}", "", *_blocks(document.blocks, 2)]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join([*lines, "", f"Written by traindx {__version__}."]) + "\n"


def _blocks(blocks: Iterable[doc.Block], level: int) -> Iterator[str]:
    """Every block ends with an empty line; labelled texts that follow each other are one list."""
    all_blocks = list(blocks)
    for block, following in zip(all_blocks, [*all_blocks[1:], None], strict=False):
        block_lines = list(_block(block, level))
        is_same_list = isinstance(block, doc.Labelled) and isinstance(following, doc.Labelled)
        if block_lines:
            yield from block_lines if is_same_list or not block_lines[-1] else (*block_lines, "")


def _block(block: doc.Block, level: int) -> Iterator[str]:
    match block:
        case doc.Section():
            body = list(_blocks(block.blocks, level + 1))
            if not body:  # nothing but charts
                return
            facts = ", ".join(_inline(fact) for fact in block.facts)
            yield f"{'#' * min(level, 6)} {_inline(block.title)}" + (f" ({facts})" if facts else "")
            yield from ("", *body)
        case doc.Details():
            yield from (f"**{_inline(block.title)}**", "", *_blocks(block.blocks, level))
        case doc.Verdict():
            first, *others = block.sentences
            yield from (f"**{_inline(block.word)}**: {_sentence(first)}", "")
            yield from (f"- {_sentence(sentence)}" for sentence in others)
            yield from ("", *_blocks(block.blocks, level)) if others else _blocks(block.blocks, level)
        case doc.Text():
            yield _inline(block.prose, leading=True)
        case doc.Labelled():
            yield f"- {_inline(block.label.capitalize())}: {_inline(block.prose)}"
        case doc.Items():
            yield from ([f"{_inline(block.label.capitalize())}:", ""] if block.label else [])
            heads = (f"{number}." if block.numbered else "-" for number in range(1, len(block.items) + 1))
            yield from (
                f"{head} {_inline(i, leading=True)}" for head, i in zip(heads, block.items, strict=True)
            )
        case doc.DocumentTable():
            yield from ([f"{_inline(block.label.capitalize())}:", ""] if block.label else [])
            yield from _table(block)
        case doc.Shares():
            names = ["cause", "confidence", *block.heads]
            rows = [[_inline(r.title), percent(r.share), *map(_cell, r.cells)] for r in block.rows]
            rows = [[*row, *[""] * (len(names) - len(row))] for row in rows]
            yield from table(names, rows, right=(1,))
        case doc.Diff():
            yield from fenced(block.lines, "diff")
        case doc.Chart() | doc.Preformatted():
            pass


def _table(block: doc.DocumentTable) -> list[str]:
    columns, rows = without_empty(block)
    right = [at for at, column in enumerate(columns) if column.align == "right"]
    return table(
        [_inline(doc.Span(c.head)) for c in columns], [list(map(_cell, row)) for row in rows], right=right
    )


def _cell(cell: doc.Cell) -> str:
    return "" if isinstance(cell, doc.Sparkline) else _inline(cell)


def _sentence(prose: doc.Prose) -> str:
    text = _inline(prose)
    return text if text.endswith((".", ":", "?")) else f"{text}."


def _inline(prose: doc.Prose, *, leading: bool = False) -> str:
    text = "".join(map(_span, spans(prose))).strip()
    return _led(text) if leading else text


def _span(span: str | doc.Span) -> str:
    if isinstance(span, str):
        return _escaped_parts(span)
    if span.kind == "code":
        return code(span.text)
    text = _prose(visible(span.text))
    return f"**{text}**" if span.kind == "strong" and text.strip() else "" if span.kind == "swatch" else text
