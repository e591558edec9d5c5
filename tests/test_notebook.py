"""A diagnosis in a notebook: HTML that survives what notebooks do to it, and the magics in a real shell."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.diagnoses import EVIL, EVIL_MARKDOWN, broken, curve, demo_run, evil, healthy, run_of, short_run
from tests.test_html import HOSTILE, Page
from traindx.core.nouns import Diagnosis, Finding, Problem
from traindx.evidence.case import Case
from traindx.report.answer import answer_text as text
from traindx.report.diagnosis import notebook_html as html
from traindx.report.panels import curves_of
from traindx.report.text import percent
from traindx.report.ticks import decades, nice_ticks
from traindx.report.to_svg import svg
from traindx.report.wording import verdict_sentences

# What notebooks keep when they are opened again: no scripts, no style sheets, no drawings.
KEPT_TAGS = frozenset(
    "div span strong small h4 p ul ol li table tbody tr td details summary code img".split()
)
KEPT_ATTRIBUTES = frozenset({"style", "open", "src", "alt", "width", "height"})
STYLE = re.compile(
    r"(?:[a-z-]+:(?:[#\w.% -]+);?)*"  # words, numbers and colours: no functions, no variables
)
EVERY = {
    "broken": broken,
    "healthy": healthy,
    "short": short_run,
    "evil": lambda: evil(EVIL),
    "hostile": lambda: evil(HOSTILE),
    "markdown": lambda: evil(EVIL_MARKDOWN),
}
EACH = pytest.mark.parametrize("which", EVERY)


@cache
def shown(which: str) -> Page:
    return Page(html(EVERY[which]()))


@EACH
def test_only_what_every_notebook_keeps(which: str) -> None:
    page = shown(which)
    assert {tag for tag, _ in page.tags} <= KEPT_TAGS
    assert {name for _, attributes in page.tags for name in attributes} <= KEPT_ATTRIBUTES
    for style in page.values("style"):
        assert STYLE.fullmatch(style), style
    assert all(src.startswith("data:image/svg+xml;base64,") for src in page.values("src"))


def test_it_says_what_the_diagnosis_says() -> None:
    diagnosis = broken()
    said = " ".join("".join(shown("broken").texts).split())
    for sentence in verdict_sentences(diagnosis):
        assert sentence in said
    first = diagnosis.problems[0]
    for hypothesis in first.hypotheses:
        assert hypothesis.title in said
        assert percent(hypothesis.confidence) in said
    told = [*first.hypotheses[0].evidence, *first.hypotheses[0].against]
    assert all(item.text in said for item in told)
    assert all(fix.summary in said for fix in first.hypotheses[0].fixes)
    assert "lr = 0.04" in said
    assert all(" ".join(one.replace("`", "").split()) in said for one in first.hypotheses[0].avoid)
    assert "41 of 58 checks ran, 17 not checked" in said
    assert diagnosis.signs[0].text in said


def test_health_and_thin_evidence_tell_why() -> None:
    for made in (healthy(), short_run()):
        said = "".join(Page(html(made)).texts)
        assert all(reason in said for reason in made.reasons)


def test_a_hostile_log_makes_the_same_elements_as_a_harmless_one() -> None:
    tame = [tag for tag, _ in Page(html(evil("name"))).tags]
    for wild in (HOSTILE, EVIL, EVIL_MARKDOWN.replace("`", "")):
        assert [tag for tag, _ in Page(html(evil(wild))).tags] == tame


def test_the_text_for_front_ends_without_html_has_no_colours() -> None:
    said = text(broken())
    assert said.startswith("PROBLEM     went to NaN or Inf at step 1,090")
    assert "\x1b" not in said


def test_a_diagnosis_shows_itself() -> None:
    class Printer:
        said = ""

        def text(self, text: str) -> None:
            self.said += text

    printer = Printer()
    diagnosis = healthy()
    assert diagnosis._repr_html_() == html(diagnosis)
    diagnosis._repr_pretty_(printer, False)
    assert printer.said == text(diagnosis)


# The picture.


def drawing(diagnosis: Diagnosis) -> ElementTree.Element:
    """The first picture of the HTML, parsed as the browser must parse it."""
    (src, *_) = Page(html(diagnosis)).values("src")
    return ElementTree.fromstring(base64.b64decode(src.partition(",")[2]))


def paths(svg: ElementTree.Element, **attributes: str) -> list[str]:
    return [
        one.attrib["d"]
        for one in svg.iter("{http://www.w3.org/2000/svg}path")
        if all(one.get(name.replace("_", "-")) == value for name, value in attributes.items())
    ]


def picture(values: list[float]) -> ElementTree.Element:
    found = curves_of(Case(run_of(curve("loss", values))), None)
    assert found is not None
    return ElementTree.fromstring(svg(found)[0])


@pytest.mark.parametrize("which", ["broken", "healthy", "hostile", "evil"])
def test_the_picture_is_sound_and_still(which: str) -> None:
    image = drawing(EVERY[which]())
    kinds = {one.tag.rpartition("}")[2] for one in image.iter()}
    assert kinds <= {"svg", "path", "text", "tspan", "rect", "circle"}
    numbers = re.findall(r"-?\d+\.?\d*(?:e-?\d+)?|nan|inf", " ".join(paths(image)))
    assert numbers
    assert all(math.isfinite(float(number)) for number in numbers)


def test_the_onset_and_the_nans_are_marked_where_they_are() -> None:
    run = demo_run()
    loss = run.series["loss"]
    image = drawing(broken())
    (dashed, *_) = paths(image, stroke_dasharray="4 3")
    at = float(dashed[1:].split()[0])
    first, last = float(loss.steps[0]), float(loss.steps[-1])
    assert at == pytest.approx(58 + (1090 - first) / (last - first) * (720 - 58 - 14), abs=0.1)
    crosses = [d for d in paths(image) if "l6 6" in d]
    broken_at = loss.steps[~np.isfinite(loss.values)]
    assert crosses[0].count("l6 6") == broken_at.size


def test_a_line_is_lifted_over_a_gap_and_never_drawn_through_it() -> None:
    values = [3.0, 2.0, math.nan, 1.0, 0.5, math.inf, 2.0, 2.5]
    (line,) = paths(picture(values), stroke_width="1.8")
    assert line.count("M") == 3
    assert line.count("L") == 3


def test_a_line_goes_up_when_the_values_do() -> None:
    (line,) = paths(picture([5.0, 1.0, 3.0]), stroke_width="1.8")
    heights = [float(point.split()[1]) for point in re.split("[ML]", line)[1:]]
    assert heights[0] < heights[2] < heights[1]


@pytest.mark.parametrize(
    "values", [[1.0], [2.0, 2.0], [0.0, 0.0], [math.nan], [1e-300, 1e300], [-1.0, 1.0], list(range(5000))]
)
def test_any_curve_can_be_drawn(values: list[float]) -> None:
    finding = Finding(
        "seen", "divergence", step=0.0, end=1.0, series="loss", marks=(0.0, 1.0), id="loss_diverges"
    )
    problem = Problem("divergence", (), "high", 0.0, "seen", (finding,), (), 1.0)
    run = run_of(curve("loss", values))
    made = replace(healthy(), run=run, verdict="problem", problems=(problem,))
    assert "nan" not in ElementTree.tostring(drawing(made), encoding="unicode").lower().replace(
        "nan or inf", ""
    )


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 9))
def test_ticks_are_round_and_inside(low: float, width: float, most: int) -> None:
    high = low + width
    if high <= low:
        return
    ticks = nice_ticks(low, high, most)
    assert len(ticks) <= most + 1
    room = 1e-6 * width + 1e-9 * max(abs(low), abs(high))
    assert all(low - room <= tick <= high + room for tick in ticks)
    steps = np.diff(ticks)
    if steps.size and width > 1e-6 * max(abs(low), abs(high)):
        assert steps == pytest.approx(np.full(steps.size, steps[0]), rel=1e-3)
        assert f"{steps[0]:.0e}"[0] in "125"


@given(st.floats(1e-12, 1e12), st.floats(1.0001, 1e12))
def test_decades_lie_inside(low: float, ratio: float) -> None:
    ticks = decades(low, low * ratio)
    assert len(ticks) <= 6
    assert all(low * 0.99 <= tick <= low * ratio * 1.01 for tick in ticks)


# The magics, in a shell of the real IPython.

CELLS = {
    "load": "%load_ext traindx",
    "nothing yet": "%traindx diagnose",
    "torch": "import torch, traindx; torch.set_num_threads(1)",
    "model": """
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=50.0)
def step():
    x = torch.randn(16, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
""",
    "cell": "%%traindx diverging\nfor _ in range(80):\n    last = step()\nprint('by the cell')\n'value'",
    "folder": "folder = get_ipython().run_line_magic('traindx', 'folder'); str(folder)",
    "fails": "%%traindx\nfor _ in range(30):\n    step()\nraise RuntimeError('mine')",
    "interrupted": "%%traindx\nfor _ in range(30):\n    step()\nraise KeyboardInterrupt",
    "wrong": "%%traindx\nthis is no Python",
    "on": "%traindx on all",
    "train": "for _ in range(40): step()",
    "diagnose": "%traindx diagnose",
    "object": "traindx.diagnose()",
    "off": "%traindx off",
    "after": "for _ in range(10): step()",
    "read": "len(traindx.read(get_ipython().run_line_magic('traindx', 'folder')).runs[0].series['loss'])",
    "usage": "%traindx please",
    "unload": "%unload_ext traindx",
    "gone": "%traindx on",
}
SHELL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell = InteractiveShell.instance()
shell.run_line_magic("colors", "NoColor")
told = {}
for name, code in json.loads(sys.argv[1]).items():
    with capture_output() as seen:
        result = shell.run_cell(code, store_history=False)
    error = result.error_before_exec or result.error_in_exec
    told[name] = {
        "out": seen.stdout,
        "err": seen.stderr,
        "shown": [one.data for one in seen.outputs],
        "error": type(error).__name__ if error is not None else None,
        "kinds": sorted(shell.display_formatter.format(result.result)[0]),
        "result": str(result.result) if isinstance(result.result, (str, int)) else None,
    }
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each cell showed, all in one session."""
    pytest.importorskip("IPython")
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("notebook")
    environment = {**os.environ, "IPYTHONDIR": str(folder / "ipython"), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", SHELL, json.dumps(CELLS)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_a_cell_is_recorded_and_its_diagnosis_shown_under_it(cells: dict[str, dict[str, Any]]) -> None:
    cell = cells["cell"]
    assert cell["error"] is None
    assert cell["out"].startswith("by the cell")
    bundle = cell["shown"][-1]
    assert "PROBLEM" in bundle["text/html"]
    assert bundle["text/plain"].startswith("PROBLEM")
    assert Page(bundle["text/html"]).values("src")
    assert "/.traindx/diverging-" in cells["folder"]["result"]


@pytest.mark.parametrize(
    ("which", "error"),
    [("fails", "RuntimeError"), ("interrupted", "KeyboardInterrupt"), ("wrong", "SyntaxError")],
)
def test_a_cell_that_fails_fails_as_it_would_and_is_diagnosed(
    cells: dict[str, dict[str, Any]], which: str, error: str
) -> None:
    cell = cells[which]
    assert cell["error"] == error
    said = cell["out"] + cell["err"]
    assert said.count("Traceback (most recent call last)") <= 1
    assert error in said
    if which != "wrong":
        assert "text/html" in cell["shown"][-1]


def test_on_records_all_cells_until_off(cells: dict[str, dict[str, Any]]) -> None:
    assert "/.traindx/all-" in cells["on"]["out"]
    for which in ("diagnose", "object"):
        assert cells[which]["kinds"] == ["text/html", "text/plain"]
        assert "PROBLEM " in cells[which]["out"]
    assert cells["read"]["result"] == "40"


def test_misuse_is_told_in_a_line(cells: dict[str, dict[str, Any]]) -> None:
    assert cells["nothing yet"]["error"] == cells["usage"]["error"] == "UsageError"
    assert "begin with %traindx on" in cells["nothing yet"]["out"] + cells["nothing yet"]["err"]
    assert "usage: %traindx on" in cells["usage"]["out"] + cells["usage"]["err"]
    assert cells["gone"]["error"] == "UsageError"
