"""The HTML page: whole in one file, safe whatever a log holds, and drawn by a real browser."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diagnoses import EVIL, EVIL_MARKDOWN, broken, curve, evil, healthy, run_of, short_run
from traindx.core.nouns import Diagnosis, Event, Finding, Run
from traindx.evidence.case import Case
from traindx.report.diagnosis import html_document, run_blocks, write_html
from traindx.report.page.markup import Html, escaped, json_script, prose, tag
from traindx.report.panels import curves_of
from traindx.report.to_html import HtmlPage as Renderer
from traindx.report.to_plotly import FigureStore, chart_text

HOSTILE = (
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    "]]>--><!-- &amp;&#60; '\"` %{x} \u2028\u2029 <b>bold</b> javascript:alert(1) </title></style>"
)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page(HTMLParser):
    """Tags, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            attrs, text = self.scripts[-1]
            self.scripts[-1] = (attrs, text + data)
        elif self.cdata_elem is None:
            self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] or "" for _, attrs in self.tags if attribute in attrs]

    def data(self) -> list[dict[str, Any]]:
        return [json.loads(text) for attrs, text in self.scripts if attrs.get("type") == "application/json"]

    def programs(self) -> list[str]:
        return [text for attrs, text in self.scripts if "type" not in attrs]


def hostile() -> Diagnosis:
    made = evil(HOSTILE)
    run = replace(
        made.run,
        settings={HOSTILE: HOSTILE},
        events=(Event(HOSTILE, HOSTILE, 2.0),),
        traits=frozenset({HOSTILE}),
    )
    return replace(made, run=run)


def body_of(diagnosis: Diagnosis) -> str:
    return Renderer(3000).scoped(run_blocks(diagnosis, "run-1"), "run-1", 0)


def several() -> list[Diagnosis]:
    return [healthy(), broken(), short_run(), hostile(), evil(EVIL), evil(EVIL_MARKDOWN)]


@cache
def page(which: str) -> Page:
    made = {"one": [broken()], "healthy": [healthy()], "hostile": [hostile()], "many": several(), "none": []}
    return Page(html_document(made[which]))


EACH = pytest.mark.parametrize("which", ["one", "healthy", "hostile", "many", "none"])


@EACH
def test_nothing_is_loaded_from_elsewhere(which: str) -> None:
    whole = page(which)
    kinds = Counter(name for name, _ in whole.tags)
    assert not kinds.keys() & {"link", "img", "iframe", "object", "embed", "base", "form"}
    assert not whole.values("src")
    assert all(link.startswith("#") for link in whole.values("href"))
    assert kinds["style"] == 1


def test_our_own_files_name_no_address() -> None:
    folder = Path(__import__("traindx.report.page", fromlist=["x"]).__file__).parent
    for name in ("page.css", "page.js", "theme.js"):
        text = (folder / name).read_text(encoding="utf-8")
        assert not re.search(r"https?:|url\(|@import|fetch|XMLHttp|innerHTML|eval\(", text), name


@EACH
def test_only_the_scripts_written_here_may_run(which: str) -> None:
    whole = page(which)
    (policy,) = [attrs["content"] for name, attrs in whole.tags if attrs.get("http-equiv")]
    assert policy is not None
    assert "default-src 'none'" in policy
    hashes = [base64.b64encode(hashlib.sha256(p.encode()).digest()).decode() for p in whole.programs()]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert len(hashes) == 3
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]


@EACH
def test_no_attribute_is_code_and_no_id_stands_twice(which: str) -> None:
    whole = page(which)
    names = {attribute for _, attrs in whole.tags for attribute in attrs}
    assert not [name for name in names if name.startswith("on")]
    ids = Counter(whole.values("id"))
    assert max(ids.values()) == 1
    assert {link[1:] for link in whole.values("href")} <= ids.keys()


def test_a_hostile_log_makes_the_same_page_as_a_harmless_one() -> None:
    tame = Page(html_document([evil("name")]))
    for text in (HOSTILE, EVIL, EVIL_MARKDOWN.replace("`", "")):
        wild = Page(html_document([evil(text)]))
        assert [name for name, _ in wild.tags] == [name for name, _ in tame.tags]
    assert HOSTILE.replace("\u2028\u2029", "\\u2028\\u2029") in page("hostile").texts


@EACH
def test_embedded_data_is_strict_json(which: str) -> None:
    def refuse(token: str) -> None:
        raise AssertionError(token)

    for attrs, text in page(which).scripts:
        if attrs.get("type") == "application/json":
            json.loads(text, parse_constant=refuse)
            assert not set("<>&\u2028\u2029") & set(text)


@given(st.text(max_size=40))
@settings(max_examples=60)
def test_any_text_stays_text(text: str) -> None:
    body = body_of(replace(evil(text), signs=(Finding(text, id=text),)))
    body.encode()
    names = [name for name, _ in Page(body).tags]
    assert names.count("script") == 1
    assert not set(names) & {"b", "img", "style"} - {"b"}
    assert Page(str(tag("p", text))).tags == [("p", {})]


def test_markup_escapes_what_is_not_markup() -> None:
    assert tag("p", "<b>", tag("i", "&"), None, cls='a"b', data_run=3, hidden=True, title=None) == (
        '<p class="a&quot;b" data-run="3" hidden>&lt;b&gt;<i>&amp;</i></p>'
    )
    assert tag("br") == "<br>"
    assert prose("set `lr <= 1` now") == "set <code>lr &lt;= 1</code> now"
    assert isinstance(escaped("x"), Html)
    assert json_script({"a": "</script>\u2028"}, "n") == (
        '<script type="application/json" id="n">{"a":"\\u003c/script\\u003e\\u2028"}</script>'
    )


def test_plotly_reads_no_markup_from_a_log() -> None:
    assert chart_text('<a href="x">%{y}</a> & more') == '&lt;a href="x"&gt;%&#123;y}&lt;/a&gt; &amp; more'
    wrapped = chart_text("word " * 40, wrap=True)
    assert max(map(len, wrapped.split("<br>"))) <= 54


def test_the_diagnosis_is_all_there() -> None:
    text = " ".join(page("one").texts)
    diagnosis = broken()
    for problem in diagnosis.problems:
        assert problem.summary in text
        for hypothesis in problem.hypotheses:
            assert hypothesis.title in text
            for words in (
                *(e.text for e in (*hypothesis.evidence, *hypothesis.against)),
                *(fix.summary for fix in hypothesis.fixes),
                *hypothesis.avoid,
            ):
                assert words in text
        assert all(question in text for question in problem.questions)
    assert all(sign.text in text for sign in diagnosis.signs)
    assert "41 of 58 checks ran" in text
    assert "a validation loss (val/loss)" in text
    assert "lr = 0.04" in text
    assert "82 %" in text


def test_headings_have_an_order() -> None:
    for which in ("one", "healthy", "many"):
        levels = [int(name[1]) for name, _ in page(which).tags if re.fullmatch(r"h[1-6]", name)]
        assert levels.count(1) == 1
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_many_runs_are_ranked_and_linked() -> None:
    whole = page("many")
    states = [attrs["class"] for name, attrs in whole.tags if name == "details" and "id" in attrs]
    assert states[0] == "run critical"
    assert states[-1] == "run healthy"
    links = [link for link in whole.values("href") if re.fullmatch(r"#run-\d+", link)]
    assert links == [f"#run-{number}" for number in range(1, 7)]


def charts_of(run: Run, *findings: Finding) -> dict[str, Any]:
    store, drawn = FigureStore(), curves_of(Case(run), None, findings)
    assert drawn is not None
    store.add(drawn)
    return json.loads(json.dumps(store.json()))  # type: ignore[no-any-return]


def test_curves_are_thinned_with_their_extremes() -> None:
    values = np.sin(np.arange(50_000.0)) + 2
    values[12_345], values[23_456], values[40_000] = 99.0, 0.001, np.nan
    whole = charts_of(run_of(curve("loss", values), curve("lr", values)))
    for held in whole["curves"]:
        assert len(held["x"]) == len(held["y"]) <= 3000
    drawn = whole["curves"][0]
    assert drawn["y"][drawn["x"].index(12_345)] == 99
    assert drawn["y"][drawn["x"].index(23_456)] == 0.001
    assert drawn["y"][drawn["x"].index(40_000)] is None


def test_what_is_not_finite_is_crossed_at_the_bottom() -> None:
    whole = charts_of(run_of(curve("loss", [3.0, 2.0, np.nan, np.inf, -np.inf])))
    (crosses,) = [t for t in whole["charts"][0]["data"] if t.get("marker", {}).get("symbol") == "x-thin"]
    assert crosses["x"] == [2, 3, 4]
    assert crosses["yaxis"] == "y"
    assert max(crosses["y"]) < 0.1
    assert "NaN or Inf at 3 points, first at step 2" in crosses["hovertext"]


def test_findings_are_marked_on_the_curve_they_were_seen_on() -> None:
    run = run_of(curve("loss", np.linspace(5, 1, 50)), curve("grad_norm", np.linspace(1, 9, 50)))
    found = Finding(
        "It <rose>.", series="grad_norm", step=10.0, end=20.0, marks=(15.0,), id="grad_norm_grows"
    )
    data = charts_of(run, found)["charts"][0]["data"]
    (band,) = [trace for trace in data if trace.get("fill")]
    assert band["yaxis"] == "y3"
    assert (band["x"][0], band["x"][1], band["text"]) == (10, 20, "It &lt;rose&gt;.")
    (point,) = [t for t in data if t.get("mode") == "markers"]
    assert (point["yaxis"], point["x"]) == ("y4", [15])
    assert point["y"][0] == pytest.approx(1 + 8 * 15 / 49, rel=1e-4)


def test_a_problem_shows_the_curves_it_was_seen_on() -> None:
    charts, diagnosis = FigureStore(), broken()
    for problem in diagnosis.problems:
        drawn = curves_of(Case(diagnosis.run), problem)
        assert drawn is not None
        charts.add(drawn)
    titles = [[a["text"] for a in chart["layout"]["annotations"]] for chart in charts.json()["charts"]]
    assert titles[0] == ["<b>loss</b>", "<b>learning rate</b>", "<b>gradient norm</b>"]
    assert titles[1] == ["<b>seconds per step</b>", "<b>loss</b>"]
    assert len(charts.json()["curves"]) < 10  # held once, whatever chart shows them


def hard_runs() -> list[Run]:
    return [
        run_of(name="no curve"),
        run_of(curve("loss", []), name="empty"),
        run_of(curve("loss", [1.0]), name="one point"),
        run_of(curve("loss", [np.nan] * 5), name="nothing finite"),
        run_of(curve("loss", [1e308, -1e308, 5e-324]), curve("lr", [0.0] * 9), name="huge"),
        run_of(curve("reward", np.arange(30.0)), name="no loss"),
        run_of(curve("loss", np.ones(40)), curve("val/loss", [1, 2, 3], "epoch"), name="two axes"),
        run_of(curve("loss", [1, 2, 3], "row"), name="rows", axis="row"),
    ]


def test_hard_curves_have_a_page() -> None:
    for run in hard_runs():
        body = body_of(replace(short_run(), run=run))
        charts = [chart for data in Page(body).data() for chart in data["charts"]]
        assert len(charts) == (run.points > 0)


def test_epochs_are_placed_along_the_steps() -> None:
    whole = charts_of(hard_runs()[6])
    assert whole["curves"][1]["x"] == [0, 19.5, 39]


def test_size() -> None:
    points = np.random.default_rng(0).random(100_000)
    run = run_of(*(curve(name, points) for name in ("loss", "val/loss", "lr", "grad_norm")))
    assert len(body_of(replace(healthy(), run=run))) < 400_000
    many = html_document([broken()] * 300)
    assert len(many) - len(html_document([])) < 12_000_000
    assert many.count('<details class="run') == 200
    assert "The 200 worst runs follow in full" in many


def test_written_as_utf8(tmp_path: Path) -> None:
    write_html([hostile(), evil()], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_bytes().decode("utf-8")
    assert text.startswith("<!doctype html>")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("which", ["one", "many", "hostile"])
def test_a_browser_draws_the_charts_without_a_complaint(which: str, tmp_path: Path) -> None:
    made = {"one": [broken()], "many": several(), "hostile": [hostile()]}[which]
    write_html(made, tmp_path / "page.html")
    options = "--headless --no-sandbox --disable-gpu --window-size=1000,6000 --virtual-time-budget=20000"
    opened = "#run-1" if which == "many" else ""  # as after a click on a row of the table
    result = subprocess.run(
        [
            str(CHROMIUM),
            *options.split(),
            f"--user-data-dir={tmp_path / 'profile'}",
            "--enable-logging=stderr",
            "--dump-dom",
            (tmp_path / "page.html").as_uri() + opened,
        ],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert "CONSOLE" not in result.stderr, [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    drawn = Page(re.sub(r"<script>.*?</script>", "", result.stdout, flags=re.S))
    rooms = [attrs for _, attrs in drawn.tags if "data-chart" in attrs]
    seen = [room for room in rooms if room["data-run"] == "run-1"]
    assert seen
    assert all(room.get("data-drawn") for room in seen)
    assert not [room for room in rooms if room["data-run"] != "run-1" and room.get("data-drawn")]
    assert result.stdout.count('class="main-svg"') >= len(seen)
    assert "taken" not in re.findall(r"<title>(.*?)</title>", result.stdout, flags=re.S)
