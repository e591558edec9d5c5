"""Pages of knowledge: small Markdown files that are data and prose at once.

    # Title
    key: value

    ## Section
    paragraphs, bullets and tables

They are parsed by splitting lines and nothing else: all of them must load within a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True)
class Page:
    """One page: `head` holds its `key: value` lines, `sections` its texts by heading, in order."""

    id: str
    kind: str
    title: str
    head: Mapping[str, str]
    sections: Mapping[str, str]

    @property
    def body(self) -> str:
        """The sections as Markdown."""
        return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in self.sections.items())

    def need(self, key: str) -> str:
        """A value of the head that must be there."""
        value = self.head.get(key, "")
        if not value:
            raise self.malformed(f"'{key}: ...' is missing below the title")
        return value

    def choice(self, key: str, choices: tuple[str, ...], *, needed: bool = False) -> str:
        """A value of the head that is one of a few; empty where it may be missing."""
        value = self.need(key) if needed else self.head.get(key, "")
        if value and value not in choices:
            raise self.malformed(f"{key} must be one of {', '.join(choices)}, not {value!r}")
        return value

    def share(self, key: str) -> float | None:
        """A value of the head between 0 and 1, None where it is missing."""
        value = self.head.get(key, "")
        try:
            share = float(value) if value else None
        except ValueError:
            share = -1.0
        if share is not None and not 0 < share <= 1:
            raise self.malformed(f"{key} must be a share of the training between 0 and 1, not {value!r}")
        return share

    def section(self, heading: str) -> str:
        """A section that must be there."""
        text = self.sections.get(heading, "")
        if not text:
            raise self.malformed(f"the section '## {heading}' is missing or empty")
        return text

    def malformed(self, fault: str) -> ValueError:
        return _malformed(self.kind, self.id, fault)


def read_page(path: Path, kind: str) -> Page:
    """The page in a file; its name is the id."""
    return parse(path.read_text(encoding="utf-8"), id=path.stem, kind=kind)


def parse(text: str, *, id: str, kind: str) -> Page:
    """A page from its text; ValueError says what is wrong with it."""
    top, *parts = ("\n" + text.strip()).split("\n## ")
    first, *lines = top.strip().split("\n")
    if not first.startswith("# ") or not first[2:].strip():
        raise _malformed(kind, id, f"the first line must be '# Title', not {first!r}")
    head: dict[str, str] = {}
    for line in lines:
        if not line.strip():
            continue
        key, colon, value = line.partition(":")
        if not colon or not key.strip().isidentifier():
            raise _malformed(kind, id, f"expected 'key: value' above the first section, got {line!r}")
        if key.strip() in head:
            raise _malformed(kind, id, f"the key {key.strip()!r} occurs twice")
        head[key.strip()] = value.strip()
    sections: dict[str, str] = {}
    for part in parts:
        heading, _, content = part.partition("\n")
        if heading.strip() in sections:
            raise _malformed(kind, id, f"the section {heading.strip()!r} occurs twice")
        sections[heading.strip()] = content.strip()
    return Page(id, kind, first[2:].strip(), MappingProxyType(head), MappingProxyType(sections))


def _malformed(kind: str, id: str, fault: str) -> ValueError:
    return ValueError(f"the {kind} page {id}: {fault}")


def bullets(text: str) -> list[str]:
    """The items of its lists, each in one line; a line that continues below belongs to its item."""
    items: list[list[str]] = []
    inside = False
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith(("- ", "* ")):
            items.append([stripped[2:].strip()])
            inside = True
        elif not stripped or not inside:
            inside = False
        else:
            items[-1].append(stripped)
    return [" ".join(item) for item in items]


def table(text: str) -> list[list[str]]:
    """The rows of the first table, its head left out; `\\|` inside a cell is a bar."""
    rows: list[list[str]] = []
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith("|"):
            rows.append(_cells(stripped))
        elif rows:
            break
    return rows[2:]


def _cells(row: str) -> list[str]:
    inner = row.replace("\\|", "\0")[1:].removesuffix("|")
    return [cell.strip().replace("\0", "|") for cell in inner.split("|")]


def first_paragraph(text: str) -> str:
    """The text before the first blank line, in one line."""
    return " ".join(text.strip().partition("\n\n")[0].split())


def words(text: str) -> tuple[str, ...]:
    """A list that was written with commas."""
    return tuple(word for part in text.split(",") if (word := part.strip()))
