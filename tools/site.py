"""Prepares the pages for `make site`: `python tools/site.py build/docs`.

Pages outside docs/ join in, links lead to where pages stand in the site, and lists are written as Python's
Markdown wants them. So every builder that takes a folder of Markdown will do; mkdocs.yml describes the site.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Pages outside docs/ -> their names in the site.
JOINED = {
    "SECURITY.md": "project/SECURITY.md",
    "CHANGELOG.md": "project/CHANGELOG.md",
    "CONTRIBUTING.md": "project/CONTRIBUTING.md",
    "benchmarks/README.md": "project/benchmarks.md",
    "clinic/README.md": "project/clinic.md",
    "README.md": "index.md",
}
LINK = re.compile(r"(?P<text>!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\((?P<target>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)")
_FENCE = re.compile(r"^(```.*?^```[^\S\n]*$)", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")


def prepare(folder: Path) -> None:
    """Writes all pages and pictures of the site, ready for the builder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.py", "__pycache__", "*.md"))
    for there, here in pages().items():
        path = folder / there
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / here).read_text(encoding="utf-8")
        path.write_text(prose(text, partial(_ready, here=here, there=there)), encoding="utf-8")


def _ready(text: str, here: str, there: str) -> str:
    return spaced(relinked(text, here, there))


def pages() -> dict[str, str]:
    """Each page of the site -> where it stands in the repository."""
    docs = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    joined = {there: here for here, there in JOINED.items() if here != "README.md"}
    return {**{name: f"docs/{name}" for name in docs}, **joined}


def prose(markdown: str, change: Callable[[str], str]) -> str:
    """A page with all but its code blocks changed."""
    parts = _FENCE.split(markdown)
    parts[::2] = map(change, parts[::2])
    return "".join(parts)


def prose_parts(markdown: str) -> list[str]:
    """A page without its code blocks."""
    return _FENCE.split(markdown)[::2]


def relinked(text: str, here: str, there: str) -> str:
    """Links of the page `here` of the repository as page `there` of the site needs them.

    What is not part of the site (source, folders) stays as words.
    """

    def new(match: re.Match[str]) -> str:
        target = match["target"]
        if not target or ":" in target:
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        goal = JOINED.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
        if goal is None:
            return match["text"][1:-1]
        relative = posixpath.relpath(goal, posixpath.dirname(there) or ".")
        return f"{match['text']}({relative}{match['anchor'] or ''})"

    return LINK.sub(new, text)


def spaced(text: str) -> str:
    """An empty line before a list that follows a paragraph, and four blanks before what is inside an item."""
    made: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        item = _ITEM.match(line)
        if item and not inside and made and made[-1].strip():
            made.append("\n")
        indented = inside and line.startswith("  ") and _ITEM.match(line.lstrip())
        made.append(f"    {line.lstrip()}" if indented else line)
        inside = bool(item) or (inside and (not line.strip() or line.startswith(" ")))
    return "".join(made)


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
