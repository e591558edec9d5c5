"""Where a cause sits and how it is mended, in every report."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from tests.diagnoses import EVIL, broken
from tests.test_html import HOSTILE, Page
from traindx.core.nouns import Diagnosis, Finding, Place
from traindx.report.answer import seen_at
from traindx.report.diagnosis import html_document, markdown, render_diagnosis
from traindx.report.diagnosis import notebook_html as notebook
from traindx.report.document import plain
from traindx.report.layout import Screen, cells
from traindx.report.places import kind_of_line, patch_lines, place_text

PATCH = """--- train.py
+++ train.py
@@ -11,3 +11,4 @@
     loss = loss_fn(model(x), y)
+    optimizer.zero_grad()
     loss.backward()
-    optimizer.step( )
+    optimizer.step()
"""


HERE = Place("train.py", 12, "fc1")


def located(place: Place = HERE, patch: str = PATCH) -> Diagnosis:
    made = broken()
    problem = made.problems[0]
    first = problem.hypotheses[0]
    fixes = (replace(first.fixes[0], patch=patch), *first.fixes[1:])
    seen = replace(problem.findings[0], text="Something else.", places=(place,))
    changed = replace(
        problem,
        findings=(*problem.findings, seen),
        hypotheses=(replace(first, place=place, fixes=fixes), *problem.hypotheses[1:]),
    )
    return replace(made, problems=(changed, *made.problems[1:]))


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (None, ""),
        (Place(), ""),
        (Place("train.py", 12), "train.py:12"),
        (Place("train.py"), "train.py"),
        (Place(layer="fc1"), "layer fc1"),
        (Place("train.py", 12, "fc1"), "train.py:12, layer fc1"),
        (Place(line=3), "line 3"),
    ],
)
def test_places_in_words(place: Place | None, text: str) -> None:
    assert place_text(place) == text


def test_a_finding_names_what_its_sentence_does_not() -> None:
    places = tuple(Place(layer=f"fc{number}") for number in range(6))
    assert plain(seen_at(Finding("Dead.", places=places))) == (
        "Dead. (layer fc0; layer fc1; layer fc2 and 3 more)"
    )
    assert plain(seen_at(Finding("Dead in layer fc0.", places=places[:1]))) == "Dead in layer fc0."
    assert plain(seen_at(Finding("Dead."))) == "Dead."


def test_kinds_of_lines() -> None:
    assert [kind_of_line(line) for line in patch_lines(PATCH)] == [
        *("head", "head", "head", "", "add", "", "remove", "add"),
    ]
    assert patch_lines(None) == []
    assert patch_lines("a\n" * 50, 4) == ["a", "a", "a", "... 47 more lines"]


def test_the_terminal_shows_place_and_patch() -> None:
    told = "\n".join(render_diagnosis(located(), everything=False, screen=Screen()))
    assert "at train.py:12, layer fc1" in told
    assert "+    optimizer.zero_grad()" in told
    assert "Something else. (train.py:12, layer fc1)" in "\n".join(
        render_diagnosis(located(), everything=True, screen=Screen())
    )


def test_markdown_shows_place_and_patch() -> None:
    told = markdown([located()])
    assert "- Location: `train.py:12`, layer `fc1`" in told
    assert "```diff\n--- train.py" in told
    fenced = markdown([located(patch="+ ````\n")])
    assert "`````diff\n+ ````\n`````" in fenced


def test_pages_show_place_and_patch() -> None:
    page = Page(html_document([located()]))
    assert "train.py:12, layer fc1" in page.texts  # as code, under the verdict
    assert "+    optimizer.zero_grad()" in page.texts
    assert ("pre", {"class": "patch"}) in page.tags
    inline = Page(notebook(located()))
    assert "+    optimizer.zero_grad()" in inline.texts
    assert not inline.values("class")


@pytest.mark.parametrize("text", [EVIL, HOSTILE, "x" * 5000, "```\n# head", "\ud800"])
def test_untrusted_places_and_patches_do_no_harm(text: str) -> None:
    diagnosis = located(Place(text, 1, text), text + PATCH + "+" + text)
    for screen in (Screen(), Screen(width=40, unicode=False)):
        for line in render_diagnosis(diagnosis, everything=True, screen=screen):
            assert line.isprintable()
            assert cells(line) <= screen.width
    page = Page(html_document([diagnosis]))
    assert len(page.programs()) == 3
    tokens = MarkdownIt("commonmark").parse(markdown([diagnosis]))
    inner = [child for token in tokens for child in token.children or ()]
    assert not [token for token in (*tokens, *inner) if token.type.startswith("html")]
    assert not any(token.content == "head" for token in inner)
    notebook(diagnosis).encode()
