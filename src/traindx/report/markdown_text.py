"""Text made safe inside Markdown: what a log holds must show as it is, never as markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.report.text import visible

_CODE = re.compile(r"(`[^`]*[^`\s][^`]*`)")
_SPECIAL = re.compile(r"[\\`*\[\]|~$!]|(?<![^\W_])_|_(?![^\W_])|&(?=#|\w+;)|:(?=//)|(?<=www)\.|@")
_LEADING = re.compile(r"^(\d{1,9})([.)])(?=\s|$)|^([#+=>-])")


def escaped(text: str) -> str:
    """One line of prose; what stands between backticks stays code."""
    parts = _CODE.split(visible(text).strip())
    made = "".join(
        code(part[1:-1]) if number % 2 else _prose(part) for number, part in enumerate(parts) if part
    )
    return _LEADING.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", made)


def _prose(text: str) -> str:
    marked = _SPECIAL.sub(lambda found: "&amp;" if found[0] == "&" else "\\" + found[0], text)
    return marked.replace("<", "&lt;").replace(">", "&gt;")


def code(text: str, limit: int = 400) -> str:
    """A name or a value set as code, whatever backticks it holds.

    With a bar in it, it is prose: in a table a bar ends the cell, and the code with it.
    """
    shown = visible(text, limit)
    if not shown.strip():
        return "(no name)"
    if "|" in shown:
        return _prose(shown)
    runs = [len(found) for found in re.findall("`+", shown)]
    fence = "`" * next(size for size in range(1, len(runs) + 2) if size not in runs)
    pad = " " if "`" in (shown[0], shown[-1]) or shown[0] == shown[-1] == " " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fenced(lines: Sequence[str], language: str = "") -> list[str]:
    """Lines set as a block of code; the fence is longer than any run of backticks in them."""
    longest = max((len(found) for line in lines for found in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *(visible(line) for line in lines), fence]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """A table of cells that are already escaped."""
    rule = ["---:" if number in right else "---" for number in range(len(head))]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
