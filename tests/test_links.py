"""Links within the documentation lead somewhere, to the heading too; the site has every page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from tools.site import JOINED, LINK, pages, prose_parts, relinked, spaced

ROOT = Path(__file__).parents[1]
FOLDERS = ("*.md", "docs/**/*.md", "examples/**/*.md")
PAGES = sorted({*(page for folder in FOLDERS for page in ROOT.glob(folder)), *map(ROOT.joinpath, JOINED)})


def words(page: Path) -> str:
    """A page without its code blocks."""
    return "".join(prose_parts(page.read_text(encoding="utf-8")))


def slug(heading: str) -> str:
    """The anchor that GitHub and the site give a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    text = words(page)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return frozenset([*map(slug, headings), *re.findall(r'<a id="([^"]+)">', text)])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_and_anchors_resolve(page: Path) -> None:
    for link in LINK.finditer(words(page)):
        target, anchor = link["target"], (link["anchor"] or "").removeprefix("#")
        if ":" in target:
            continue
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(path), f"{page.name} links to {target}#{anchor}"


def test_the_site_has_every_page() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav = yaml.safe_load(text[text.index("\nnav:") :])["nav"]
    named = set(re.findall(r"[\w/-]+\.md", str(nav)))
    assert named == set(pages())
    assert [next(iter(group)) for group in nav] == [
        "Start here",
        "Reading a diagnosis",
        "Commands",
        "Reference",
        "Contributing",
    ]


def test_the_start_page_names_every_page() -> None:
    start = words(ROOT / "docs" / "index.md")
    others = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert {name for name in others if f"]({name})" not in start} == set()


def test_links_as_the_site_needs_them() -> None:
    def new(text: str) -> str:
        return relinked(text, "docs/treat.md", "treat.md")

    assert new("[a](run.md#options)") == "[a](run.md#options)"
    assert new("[a](../SECURITY.md)") == "[a](project/SECURITY.md)"
    assert new("[`a`](../src/traindx)") == "`a`"
    assert new("[a](#here) [b](https://example.org/c.md)") == "[a](#here) [b](https://example.org/c.md)"
    back = relinked(
        "[a](../docs/treat.md) [b](../README.md)", "benchmarks/README.md", "project/benchmarks.md"
    )
    assert back == "[a](../treat.md) [b](../index.md)"


def test_lists_get_the_space_they_need() -> None:
    assert spaced("Words:\n- a\n  more\n- b\n") == "Words:\n\n- a\n  more\n- b\n"
    assert spaced("- a\n  - b\n") == "- a\n    - b\n"
