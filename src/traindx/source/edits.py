"""Edits of a script: made, chosen, shown as a unified diff."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from difflib import unified_diff

from traindx.core.nouns import Edit
from traindx.source.script import Script, parse

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")


def edited(text: str, edits: Sequence[Edit]) -> str:
    """A file's text with its edits made, in its own kind of line ends; they do not overlap."""
    lines = _LINES.findall(text)
    end = next((line[len(line.rstrip("\r\n")) :] for line in lines if line[-1:] in "\r\n"), "\n")
    closed = not lines or lines[-1][-1:] in "\r\n"
    if lines and not closed:
        lines[-1] += end
    for edit in sorted(edits, key=lambda edit: (edit.first, edit.last), reverse=True):
        lines[edit.first - 1 : edit.last] = [line + end for line in edit.new]
    result = "".join(lines)
    return result if closed else result.removesuffix(end)


def apart(edits: Iterable[Sequence[Edit]]) -> list[Edit]:
    """Of several groups of edits those that touch no line of one before: a group is made as a whole."""
    compatible: list[Edit] = []
    for group in edits:
        if not any(_meet(edit, chosen) for edit in group for chosen in compatible):
            compatible += group
    return compatible


def _meet(first: Edit, second: Edit) -> bool:
    if first.file != second.file:
        return False
    return first.first <= max(second.last, second.first) and second.first <= max(first.last, first.first)


def parses(text: str) -> bool:
    """Whether a text is Python still."""
    try:
        parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def diff(script: Script, edits: Sequence[Edit]) -> str:
    """What the edits change, file by file."""
    parts = []
    for source in script.sources:
        file_edits = [edit for edit in edits if edit.file == source.path]
        if file_edits:
            name = in_diff(source.path)
            before, after = (_LINES.findall(text) for text in (source.text, edited(source.text, file_edits)))
            parts.append("".join(unified_diff(before, after, name, name)))
    return "".join(parts)


def in_diff(name: str) -> str:
    """A name as git writes it: in quotes where it could end the line or the name, with octal bytes.

    A name with a blank is followed by a tab, where readers of diffs take the name to end.
    """
    if name.isprintable() and not set(name) & set('"\\'):
        return f"{name}\t" if " " in name else name
    plain = (
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}"
        for byte in os.fsencode(name)
    )
    return f'"{"".join(plain)}"'
