"""A unified diff applied to texts, strictly: every line that it names must be there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traindx.core import files

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NOWHERE = "/dev/null"
_NO_END = "\\ No newline at end of file"


class PatchError(ValueError):
    """A patch does not fit; the message is one line for the user."""


@dataclass(frozen=True)
class Hunk:
    """Lines `old` from line `start` on become `new`; lines keep their ends."""

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class FilePatch:
    old: str
    new: str
    hunks: tuple[Hunk, ...]


def patched(patch: str, folder: str) -> dict[str, str | None]:
    """User path -> the text that a patch gives it, None where it removes the file."""
    texts: dict[str, str | None] = {}
    for file_patch in parsed(patch):
        name = file_patch.new if file_patch.new != _NOWHERE else file_patch.old
        path = _path(file_patch, folder)
        old_text = "" if file_patch.old == _NOWHERE else _read(path, name)
        texts[path] = None if file_patch.new == _NOWHERE else _applied(old_text, file_patch.hunks, name)
    return texts


def parsed(patch: str) -> list[FilePatch]:
    """The files of a diff in their order; whatever else a mail or `git show` adds is passed over."""
    patches: list[FilePatch] = []
    lines = patch.splitlines(keepends=True)
    number = 0
    while number + 1 < len(lines):
        if lines[number].startswith("rename from "):
            raise PatchError("it renames a file, which a trial cannot: give --git, or the files themselves.")
        if lines[number].startswith("--- ") and lines[number + 1].startswith("+++ "):
            old, new = _name(lines[number]), _name(lines[number + 1])
            hunks, number = _hunks(lines, number + 2)
            patches.append(FilePatch(old, new, tuple(hunks)))
        elif lines[number].startswith(("GIT binary patch", "Binary files ")):
            raise PatchError("it holds a binary file: give --file old=new for data.")
        else:
            number += 1
    return patches


def _hunks(lines: Sequence[str], number: int) -> tuple[list[Hunk], int]:
    hunks: list[Hunk] = []
    while number < len(lines) and (head := _HUNK.match(lines[number])):
        start, counts = int(head[1]), [int(head[group] or 1) for group in (2, 4)]
        old, new = list[str](), list[str]()
        number += 1
        while number < len(lines) and (len(old) < counts[0] or len(new) < counts[1]):
            line = lines[number]
            mark, content = (line[:1], line[1:]) if line.strip("\r\n") else (" ", line)
            if mark not in " +-":
                break
            if mark in " -":
                old.append(content)
            if mark in " +":
                new.append(content)
            number += 1
            if number < len(lines) and lines[number].startswith(_NO_END):
                for side in (old if mark in " -" else [], new if mark in " +" else []):
                    if side:
                        side[-1] = side[-1].rstrip("\r\n")
                number += 1
        if (len(old), len(new)) != tuple(counts):
            raise PatchError(f"it is cut off or damaged near its line {number}.")
        hunks.append(Hunk(start, tuple(old), tuple(new)))
    return hunks, number


def _name(line: str) -> str:
    return line[4:].split("\t")[0].rstrip("\r\n").strip('"')


def _path(patch: FilePatch, folder: str) -> str:
    """Where a file of the patch is: with or without the `a/` of git, in the folder or one above it."""
    name = patch.new if patch.new != _NOWHERE else patch.old
    short = name.partition("/")[2] if name.startswith(("a/", "b/")) else name
    candidates = [
        os.path.join(top, relative) for top in _tops(folder) for relative in dict.fromkeys((short, name))
    ]
    existing = [path for path in candidates if os.path.isfile(path)]
    path = os.path.realpath(existing[0] if existing else os.path.join(folder, short))
    tops = [os.path.realpath(top) for top in _tops(folder)]
    if os.path.isabs(name) or not any(path.startswith(top + os.sep) for top in tops):
        raise PatchError(f"it changes {name}, which is outside this folder.")
    if not existing and patch.old != _NOWHERE:
        raise PatchError(f"it changes {name}, which is not there: run this where the patch belongs.")
    return path


def _tops(folder: str) -> Iterator[str]:
    """The folder, and the root of the repository it is in."""
    yield folder
    above = os.path.realpath(folder)
    while not os.path.isdir(os.path.join(above, ".git")):
        parent = os.path.dirname(above)
        if parent == above:
            return
        above = parent
    yield above


def _read(path: str, name: str) -> str:
    try:
        return files.read(path).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise PatchError(f"it changes {name}, which cannot be read as text.") from None


def _applied(text: str, hunks: Sequence[Hunk], name: str) -> str:
    lines = text.splitlines(keepends=True)
    moved = 0
    for hunk in hunks:
        expected = hunk.start - 1 + moved if hunk.old else hunk.start + moved
        at = _position_of(lines, hunk.old, expected)
        if at is None:
            raise PatchError(f"it does not fit {name} at line {hunk.start}: the file has other lines there.")
        lines[at : at + len(hunk.old)] = hunk.new
        moved += at - expected + len(hunk.new) - len(hunk.old)
    return "".join(lines)


def _position_of(lines: Sequence[str], old: Sequence[str], expected: int) -> int | None:
    """Where lines are: as near as possible to where they are expected; line ends do not count."""
    old_lines = [line.rstrip("\r\n") for line in old]
    places = range(len(lines) - len(old_lines) + 1)
    for at in sorted(places, key=lambda place: abs(place - expected)):
        if all(lines[at + i].rstrip("\r\n") == line for i, line in enumerate(old_lines)):
            return at
    return None
