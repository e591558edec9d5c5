"""Edits of a script as a unified diff."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff

from traindx.core import Edit
from traindx.script.source import Script


def edited(text: str, edits: Sequence[Edit]) -> str:
    """A file's text with its edits made; they do not overlap."""
    lines = text.splitlines()
    for edit in sorted(edits, key=lambda edit: (edit.first, edit.last), reverse=True):
        lines[edit.first - 1 : edit.last] = edit.new
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def diff(script: Script, edits: Sequence[Edit]) -> str:
    """What the edits change, file by file."""
    parts = []
    for source in script.sources:
        own = [edit for edit in edits if edit.file == source.path]
        if own:
            before, after = source.text.splitlines(True), edited(source.text, own).splitlines(True)
            parts.append("".join(unified_diff(before, after, source.path, source.path)))
    return "".join(parts)
