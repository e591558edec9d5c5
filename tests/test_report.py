"""What is shown: text made safe, numbers made short, curves that do not hide a NaN."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traindx.core.nouns import Event, Note, Reading, Run, Series
from traindx.report.curves import thinned
from traindx.report.document import TableColumn
from traindx.report.layout import Screen, cells, fit, table
from traindx.report.plots import write_plots
from traindx.report.runs import render
from traindx.report.runs_csv import write_points
from traindx.report.runs_json import runs_document
from traindx.report.sparkline import sparkline
from traindx.report.summary import summarize
from traindx.report.text import MARK, lasting, short, visible

EVIL = "\x1b[31mred\x1b]0;title\x07 [bold]x[/bold]\r\n\x00\x9b2J\u202eabc\ud800\udcff $\\frac{$ é 漢字"


def series(name: str, values: object, steps: object = None, **more: object) -> Series:
    array = np.asarray(values, dtype=float)
    at = np.arange(array.size, dtype=float) if steps is None else np.asarray(steps, dtype=float)
    return Series(name, at, array, str(more.pop("source", name)), **more)  # type: ignore[arg-type]


def run_of(*members: Series, **more: object) -> Run:
    facts = {"name": "r", "path": "r", "formats": ("csv",), "axis": "step", **more}
    return Run(series={s.name: s for s in members}, **facts)  # type: ignore[arg-type]


def evil_findings() -> Reading:
    run = run_of(
        series(EVIL, [1, np.nan, np.inf, -1e300, 1e300], source=EVIL, goal="lower", derived=EVIL),
        name=EVIL,
        path=EVIL,
        config={EVIL: EVIL, "big": 10**30, "nan": float("nan"), "none": None, "yes": True},
        settings={"model": EVIL},
        events=(Event(EVIL, EVIL, 3.0), Event("crash", EVIL)),
        notes=(Note(EVIL, EVIL), Note("other", EVIL)),
        files=(EVIL, EVIL),
        traits=frozenset({"rl"}),
    )
    return Reading((run, run), (Note(EVIL, EVIL),))


@pytest.mark.parametrize("colour", [False, True])
def test_nothing_from_a_log_reaches_the_terminal_raw(colour: bool) -> None:
    text = "\n".join(render(evil_findings(), everything=True, screen=Screen(90, colour)))
    text.encode()
    if colour:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert "[bold]x[/bold]" in text
    assert "\\x1b[31mred" in text


def test_machine_formats_survive_evil_names(tmp_path: Path) -> None:
    document = json.loads(runs_document(evil_findings()))
    (curve,) = document["runs"][0]["series"]
    assert curve["values"] == [1, "NaN", "Infinity", -1e300, 1e300]
    assert document["runs"][0]["config"]["nan"] == "NaN"
    assert document["runs"][0]["config"]["big"] == str(10**30)
    out = io.StringIO()
    write_points(evil_findings().runs, out)
    out.getvalue().encode()
    written = write_plots(evil_findings().runs, tmp_path)
    assert len({path.name for path in written}) == 2
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*\.png", path.name) for path in written)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/", "", "..", "a" * 500, "漢字", "C:\\x\\y", "-"])
def test_picture_names_stay_in_their_folder(tmp_path: Path, name: str) -> None:
    (path,) = write_plots([run_of(series("loss", [1, 2]), name=name)], tmp_path)
    assert path.parent == tmp_path
    assert path.is_file()
    assert len(path.name) < 100


@given(st.text())
def test_visible_text_is_one_printable_line(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    shown.encode()
    assert len(visible(text, 10)) <= 10


@given(st.text(min_size=1), st.integers(1, 40), st.sampled_from(["start", "end"]))
def test_fit_keeps_the_width(text: str, width: int, keep: str) -> None:
    assert cells(fit(visible(text), width, keep)) <= width  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"), (1, "1"), (-0.0, "0"), (0.5, "0.5"), (0.123456, "0.1235"), (1234.56, "1,234.6"),
        (1e6, "1,000,000"), (3e-4, "3e-4"), (1.25e-7, "1.25e-7"), (2.5e12, "2.5e12"), (-1e-5, "-1e-5"),
        (float("nan"), "NaN"), (float("inf"), "Inf"), (float("-inf"), "-Inf"), (None, ""),
        (999.96, "1,000.0"), (5e-324, "4.94e-324"),
    ],
)  # fmt: skip
def test_short_numbers(number: float | None, text: str) -> None:
    assert short(number) == text


@given(st.floats(allow_infinity=False).filter(lambda number: abs(number) < 1e308 or number != number))
def test_short_is_near_and_short(number: float) -> None:
    text = short(number)
    assert len(text) <= 13
    value = float(text.replace(",", ""))
    assert value == pytest.approx(number, rel=6e-3, abs=0, nan_ok=True)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.5, "0.5 s"), (59, "59 s"), (600, "10 min"), (3700, "1 h 1 min"), (90000, "1 d 1 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert lasting(seconds) == text


def draw(values: object, steps: object = None, width: int = 8, **more: object) -> str:
    one = series("x", values, steps)
    ends = {"start": float(one.steps[0]), "end": float(one.steps[-1]), **more}
    return sparkline(one.steps, one.values, width=width, **ends)  # type: ignore[arg-type]


def test_sparklines() -> None:
    assert draw(range(8)) == "▁▂▃▄▅▆▇█"
    assert draw(range(80)) == "▁▂▃▄▅▆▇█"
    assert draw([1, 1, 1, 1], width=4) == "▄▄▄▄"
    assert draw([3.0]) == "▄       "
    assert draw([np.nan]) == MARK + " " * 7
    assert draw([0, 7], [0, 7]) == "▁▁▁▁▁▁▁█"
    assert draw([0, 7], [2, 5], start=0.0, end=7.0) == "  ▁▁▁█  "
    assert draw([10.0**i for i in range(8)]) == "▁▂▃▄▅▆▇█"
    assert draw(range(8), unicode=False) == "_.-~=+*#"
    assert draw([1e308, -1e308, 1e308, -1e308], width=4) == "█▁█▁"


def test_a_single_nan_among_many_points_is_seen() -> None:
    values = np.sin(np.arange(100_000.0))
    assert MARK not in draw(values, width=16)
    values[54_321] = np.nan
    line = draw(values, width=16)
    assert line.count(MARK) == 1
    assert line.index(MARK) == int(54_321 / 100_000 * 16)


values_with_holes = st.lists(st.floats(), min_size=1, max_size=60)


@given(values_with_holes, st.integers(1, 30))
def test_a_sparkline_always_has_its_width_and_its_marks(values: list[float], width: int) -> None:
    line = draw(values, width=width)
    assert len(line) == width
    assert (MARK in line) == (not np.isfinite(values).all())


@given(values_with_holes, st.sampled_from(["lower", "higher", "none"]))
def test_summaries_are_what_a_plain_loop_finds(values: list[float], goal: str) -> None:
    found = summarize(series("x", values, goal=goal))
    finite = [v for v in values if np.isfinite(v)]
    assert found.points == len(values)
    assert found.nans == sum(v != v for v in values)
    assert found.infs == len(values) - len(finite) - found.nans
    if goal == "none" or not finite:
        assert found.best is None
    else:
        assert found.best == (min(finite) if goal == "lower" else max(finite))
        assert values[int(found.best_step or 0)] == found.best


def test_tables_give_up_what_matters_least() -> None:
    columns = [TableColumn("name", least=4), TableColumn("n", "right"), TableColumn("more", least=0)]
    rows = [["a" * 30, "1", "b" * 30]]
    wide, narrow, tiny = (table(columns, rows, Screen(w)) for w in (80, 40, 20))
    assert wide[1] == "  " + "a" * 30 + "  1  " + "b" * 30
    assert len(narrow[1]) == 40
    assert "b…" in narrow[1]
    assert len(tiny[1]) <= 20
    assert "b" not in tiny[1]


def test_many_series_are_cut_but_their_trouble_is_told() -> None:
    members = [series(f"m{i:03}", [1, 2, np.nan if i == 99 else 3]) for i in range(100)]
    text = "\n".join(render(Reading((run_of(*members),), ()), everything=False, screen=Screen()))
    assert "and 76 more series, 1 of them with NaN or Inf; --all shows them" in text
    text = "\n".join(render(Reading((run_of(*members),), ()), everything=True, screen=Screen()))
    assert "m099" in text


@given(st.lists(st.floats(), min_size=1, max_size=50), st.integers(3001, 9000))
def test_thinning_keeps_extremes_and_holes(values: list[float], size: int) -> None:
    whole = np.resize(np.asarray(values), size)
    steps, kept = thinned(np.arange(float(whole.size)), whole)
    assert kept.size <= 3000
    assert (np.diff(steps) > 0).all()
    finite, kept_finite = whole[np.isfinite(whole)], kept[np.isfinite(kept)]
    assert kept_finite.max(initial=-np.inf) == finite.max(initial=-np.inf)
    assert kept_finite.min(initial=np.inf) == finite.min(initial=np.inf)
    assert np.isfinite(kept).all() == np.isfinite(whole).all()


def test_hard_curves_can_be_drawn(tmp_path: Path) -> None:
    curves = {
        "nothing finite": [np.nan, np.nan],
        "huge": [1e308, -1e308],
        "tiny": [5e-324, 1e-300, 1.0],
        "one point": [1.0],
        "flat": [0.0, 0.0, 0.0],
        "inf": [1.0, np.inf, 2.0],
    }
    runs = [run_of(series("loss", values), name=name) for name, values in curves.items()]
    runs.append(run_of(series("loss", [1, 2]), series("val/loss", [2, 3], [0, 0]), name="same step"))
    runs.append(run_of(*(series(f"m{i}", [1, 2]) for i in range(40)), name="many"))
    assert len(write_plots(runs, tmp_path)) == len(runs)
