"""The prose of pages and docs is plain: words that docs/glossary.md replaces do not come back."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("causes", "symptoms", "remedies", "sheets")
# Written from docstrings and help texts (the code's words), or from pages that are checked themselves.
GENERATED = {"detectors.md", "formats.md", "changes.md", "cli.md", "names.md"}
GENERATED |= {"causes.md", "symptoms.md", "remedies.md", "sheets.md"}

AVOID = re.compile(
    r"""\b(
      mend(s|ed|ing)? | anew | seldom | likeliest | likelier | dearer | dearest
    | (is|are|was|were|be|been) \s told | tells? \s (them|it|the \s two|causes) \s apart | told \s apart
    | looked \s (at|for) | could \s not \s look | first \s looks? | by \s look
    | convicts? | acquits? | leaps | leapt | heals? | healed
    | beside | stands? \s (in|at|there|against|for) | comes? \s to \s rest | rests? \s at
    | for \s ever | for \s want \s of | at \s hand | whoever \s is | keeps \s no | and \s its \s kin
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)

# Where a word is right: `beside` is a key of a recording.
ALLOWED = {("docs/recording.md", "beside")}


def prose() -> Iterator[tuple[str, str]]:
    """Names and texts of pages, hand-written docs and the strings of data files."""
    for kind in PAGES:
        for path in sorted(ROOT.glob(f"src/traindx/**/{kind}/*.md")):
            yield _name(path), path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("src/traindx/skills/**/*.md")):
        yield _name(path), path.read_text(encoding="utf-8")
    for path in (
        path for folder in ("", "docs/", "clinic/", "benchmarks/") for path in ROOT.glob(f"{folder}*.md")
    ):
        if path.name not in GENERATED and path.name != "glossary.md":
            yield _name(path), _without_generated(path.read_text(encoding="utf-8"))
    for path in [*ROOT.glob("src/traindx/**/*.toml"), *ROOT.glob("clinic/**/truth.toml")]:
        yield _name(path), "\n".join(_strings(tomllib.loads(path.read_text(encoding="utf-8"))))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _without_generated(text: str) -> str:
    """The text without what docs/generate.py fills in between comments."""
    return re.sub(r"<!-- (formats|checks) -->.*?<!-- /\1 -->", "", text, flags=re.DOTALL)


def _strings(value: Any) -> Iterator[str]:
    """Sentences and phrases of a data file; single words are ids."""
    if isinstance(value, dict):
        for key, inside in value.items():
            if key not in ("lines", "words"):
                yield from _strings(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _strings(inside)
    elif isinstance(value, str) and " " in value:
        yield value


def found(text: str) -> list[str]:
    return [" ".join(match[0].lower().split()) for match in AVOID.finditer(text)]


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in prose()])
def test_the_prose_is_plain(name: str, text: str) -> None:
    assert [word for word in found(text) if (name, word) not in ALLOWED] == []


def test_all_the_prose_is_read() -> None:
    names = [name for name, _ in prose()]
    assert sum("/causes/" in name for name in names) > 50
    assert {"README.md", "docs/treat.md", "clinic/README.md", "clinic/truth.toml"} <= set(names)


def test_the_words_are_found() -> None:
    assert found("It is told and mended; what was looked\nat stands there anew.") == [
        "is told",
        "mended",
        "looked at",
        "stands there",
        "anew",
    ]
    assert found("It was reported and fixed; a healthy run tells more.") == []


def test_what_is_allowed_is_there() -> None:
    texts = dict(prose())
    assert [entry for entry in ALLOWED if entry[1] not in found(texts[entry[0]])] == []
