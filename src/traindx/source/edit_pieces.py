"""Edits for pieces of a script: a line put before or after a statement, an expression replaced."""

from __future__ import annotations

import ast

from traindx.core.nouns import Edit, Grade, Place
from traindx.source.values import Spot


def place(spot: Spot) -> Place:
    """The location of a piece of source."""
    return Place(spot.source.path, spot.line)


def statement(spot: Spot) -> ast.stmt | None:
    """The statement a piece of source belongs to."""
    node: ast.AST | None = spot.node
    while node is not None and not isinstance(node, ast.stmt):
        node = spot.source.parents.get(node)
    return node


def put_before(spot: Spot, text: str, grade: Grade) -> tuple[Edit, ...]:
    """A line of its own before the statement; none where the statement does not begin a line."""
    position = _indent(spot)
    if position is None:
        return ()
    node, indent = position
    return (Edit(spot.source.path, node.lineno, node.lineno - 1, (indent + text,), grade),)


def put_after(spot: Spot, text: str, grade: Grade) -> tuple[Edit, ...]:
    """A line of its own after the statement."""
    position = _indent(spot)
    if position is None:
        return ()
    node, indent = position
    end = node.end_lineno or node.lineno
    if spot.source.lines[end - 1].encode()[node.end_col_offset :].strip().startswith(b";"):
        return ()
    return (Edit(spot.source.path, end + 1, end, (indent + text,), grade),)


def remove(spot: Spot, grade: Grade) -> tuple[Edit, ...]:
    """The statement taken out, where others stay in its block."""
    position = _indent(spot)
    if position is None:
        return ()
    node, _ = position
    around = spot.source.parents.get(node)
    blocks = [getattr(around, name, None) for name in ("body", "orelse", "finalbody")]
    if not any(isinstance(block, list) and node in block and len(block) > 1 for block in blocks):
        return ()
    end = node.end_lineno or node.lineno
    if spot.source.lines[end - 1].encode()[node.end_col_offset :].strip()[:1] not in (b"", b"#"):
        return ()
    return (Edit(spot.source.path, node.lineno, end, (), grade),)


def replaced(spot: Spot, text: str, grade: Grade) -> tuple[Edit, ...]:
    """An expression written otherwise."""
    node = spot.node
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    start, end = getattr(node, "col_offset", None), getattr(node, "end_col_offset", None)
    if first is None or last is None or start is None or end is None:
        return ()
    lines = spot.source.lines
    if last > len(lines):
        return ()
    before = lines[first - 1].encode()[:start].decode(errors="replace")
    after = lines[last - 1].encode()[end:].decode(errors="replace")
    return (Edit(spot.source.path, first, last, (before + text + after,), grade),)


def _indent(spot: Spot) -> tuple[ast.stmt, str] | None:
    node = statement(spot)
    if node is None or node.lineno > len(spot.source.lines):
        return None
    before = spot.source.lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="replace")
    return (node, before) if not before.strip() else None


def segment(spot: Spot | None) -> str:
    """The code of a piece as it is written, when it is on one line."""
    if spot is None:
        return ""
    text = ast.get_source_segment(spot.source.text, spot.node)
    return text if text is not None and "\n" not in text else spot.text
