"""Pages with hostile names in a real browser: they work, run nothing, load nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.browser import CHROMIUM, Browser
from tests.hostile.names import FILES, NAMES
from tests.hostile.test_names import call, write
from tests.hostile.test_names_scripts import FORGETS, NAME

pytestmark = [pytest.mark.long, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")]
# Whatever gets to run says so in ways that a browser tells us of.
MARKUP = (
    "<img src=http://evil.example/a onerror=alert(1)></script><script>alert(2);fetch('http://evil.example/b')"
    "</script><link rel=stylesheet href=http://evil.example/c><style>*{display:none}</style>%{x}<b>bold</b>"
    "<svg onload=alert(3)><a href='javascript:alert(4)'>x</a>"
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of each kind, with all the names."""
    top = tmp_path_factory.mktemp("pages")
    names = [MARKUP, *NAMES.values()]
    for number in range(2):
        write(top / "one" / f"\x1b]0;t\x07<b>\u202e`|$x^$\n{number}", names, number)
    for number, (key, name) in enumerate(FILES.items()):
        write(top / "many" / name, [MARKUP, NAMES[key]], number)
    call("diagnose", "--html", top / "diagnosis.html", min((top / "one").iterdir()))
    call("diagnose", "--html", top / "triage.html", top / "many")
    call("compare", "--html", top / "comparison.html", top / "one")
    call("compare", "--html", top / "sweep.html", top / "many")
    if hasattr(os, "fork"):
        _treat(top)
    return top


def _treat(top: Path) -> None:
    place = top / f"<img src=x onerror=alert(1)>{NAMES['bidi']}"
    place.mkdir()
    shutil.copy(FORGETS, place / f"{NAME}.py")
    words = ["treat", "--time-budget", "4m", "--seeds", "2", f"{NAME}.py"]
    done = subprocess.run(
        [sys.executable, "-m", "traindx", *words], cwd=place, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    shutil.copy(place / "treatment" / "report.html", top / "treatment.html")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.mark.parametrize("kind", ["diagnosis", "triage", "comparison", "sweep", "treatment"])
def test_a_page_works_and_runs_nothing_of_a_name(pages: Path, browser: Browser, kind: str) -> None:
    page = pages / f"{kind}.html"
    if not page.exists():
        pytest.skip("trials need fork")
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(page)
    _use(browser)
    charts = browser.run("[...document.querySelectorAll('.chart')].filter((one) => one.offsetParent).length")
    drawn = browser.run("document.querySelectorAll('.chart[data-drawn] .main-svg').length")
    lines = browser.run("document.querySelectorAll('.chart .scatterlayer path').length")
    assert charts > 0
    assert drawn >= charts
    assert lines > charts
    browser.picture(pages / f"{kind}.png")
    assert browser.complaints == []
    assert browser.refused() == []
    loaded = {address for address in browser.requests if not address.startswith(("data:", "blob:"))}
    assert loaded == {page.as_uri()}
    assert (
        browser.run("document.querySelectorAll('img[src^=\"http\"], link, iframe, svg a, main style').length")
        == 0
    )


def _use(browser: Browser) -> None:
    """What a reader does: open everything, point at the curves, change scale and colours, filter."""
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    shown = 0
    for chart in browser.each(".chart"):
        for share in (0.2, 0.5, 0.8):
            browser.point(chart["x"] + share * chart["width"], chart["y"] + 0.4 * chart["height"])
            shown += browser.run("document.querySelectorAll('.hoverlayer text').length")
    assert shown
    for selector in ("button.scale", "#theme", "th"):
        browser.run(f"document.querySelectorAll({json.dumps(selector)}).forEach((one) => one.click())")
    filled = "const one = document.querySelector('#filter'); if (one) { one.value = '<b>'; "
    browser.run("(() => { " + filled + "one.dispatchEvent(new Event('input')); } })()")
    browser.rest()
    browser.run("(() => { " + filled.replace("<b>", "") + "one.dispatchEvent(new Event('input')); } })()")


def test_the_browser_tells_of_what_runs(browser: Browser, tmp_path: Path) -> None:
    """Each of the signs that the other tests look for shows on a page that deserves it."""
    policy = "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'\">"
    page = tmp_path / "bad.html"
    page.write_text(f"<!doctype html>{policy}{MARKUP}", encoding="utf-8")
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(page)
    assert any("dialog: 2" in one for one in browser.complaints)
    assert any("evil.example/b" in one for one in browser.requests)
    assert any("evil.example/c" in one for one in browser.requests)
    assert any("img-src" in one for one in browser.refused())
