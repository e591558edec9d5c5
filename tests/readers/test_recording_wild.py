"""Recordings as no recorder writes them: nothing raises, and what can be read is read."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import traindx
from tests.readers.tape import Tape
from tests.readers.truth import only_run
from traindx.engine import diagnose
from traindx.report.layout import Screen
from traindx.report.runs import render


@pytest.fixture(autouse=True)
def exceptions_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINDX_DEBUG", "1")


def read(lines: bytes, facts: bytes | None = None, further: bytes | None = None) -> list[Any]:
    """Whatever is in a recording of these bytes, looked at from all sides."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / ".traindx" / "r"
        folder.mkdir(parents=True)
        for name, content in (("rank-0.jsonl", lines), ("rank-1.jsonl", further), ("run.json", facts)):
            if content is not None:
                (folder / name).write_bytes(content)
        found = traindx.read(folder)
    for run in found.runs:
        for series in run.series.values():
            assert series.steps.size == series.values.size > 0
            assert (series.steps[1:] >= series.steps[:-1]).all()
            assert series.times is None or series.times.size == series.values.size
        diagnose(run)
    out = io.StringIO()
    for line in render(found, everything=False, screen=Screen(width=100, unicode=True, colour=False)):
        out.write(line)
    assert "\x1b" not in out.getvalue()
    return list(found.runs)


NUMBERS = st.one_of(
    st.floats(), st.integers(), st.integers(10**300, 10**400), st.just(float("nan")), st.booleans(), st.none()
)
WORDS = st.one_of(
    st.sampled_from(
        ["loss", "t", "step", "rows", "names", "sample", "event", "layer", "\x1b[31mred\x1b[0m", ""]
    ),
    st.text(max_size=8),
)
ANYTHING = st.recursive(
    st.one_of(NUMBERS, WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=12,
)
CELLS = st.one_of(st.lists(st.one_of(NUMBERS, WORDS, st.lists(NUMBERS, max_size=2)), max_size=6), ANYTHING)
COUNT = st.one_of(st.lists(st.one_of(st.integers(0, 50), NUMBERS), max_size=6), st.integers(0, 50), ANYTHING)
LINES = st.one_of(
    st.fixed_dictionaries({"rows": st.dictionaries(WORDS, CELLS, max_size=5)}),
    st.fixed_dictionaries(
        {"rows": st.fixed_dictionaries({"t": CELLS, "step": COUNT, "loss": CELLS, "lr": CELLS})}
    ),
    st.fixed_dictionaries({"columns": st.one_of(st.just(["t", "step", "loss"]), CELLS)}),
    st.fixed_dictionaries({"rows": st.one_of(st.tuples(CELLS, COUNT, CELLS), CELLS)}),
    st.fixed_dictionaries({"names": st.dictionaries(WORDS, CELLS, max_size=3)}),
    st.fixed_dictionaries(
        {
            "t": NUMBERS,
            "step": COUNT,
            "sample": st.dictionaries(WORDS, st.dictionaries(WORDS, CELLS, max_size=3)),
        }
    ),
    st.fixed_dictionaries({"step": NUMBERS, "event": ANYTHING, "text": ANYTHING, "data": ANYTHING}),
    st.fixed_dictionaries(
        {"t": NUMBERS, "step": COUNT, "out": st.one_of(ANYTHING, st.just("epoch 3 loss 1.5\n"))}
    ),
    st.fixed_dictionaries({"recording": ANYTHING, "started": NUMBERS}),
    st.fixed_dictionaries({"t": NUMBERS, "step": NUMBERS, "log": ANYTHING}),
    st.dictionaries(WORDS, ANYTHING, max_size=4),
)
FACTS = st.dictionaries(
    st.sampled_from(
        "version config ended unseen dropped links libraries command script world_size device seed".split()
    ),
    ANYTHING,
)


def written(lines: list[Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(LINES, max_size=8), st.lists(LINES, max_size=3), FACTS)
def test_lines_of_wrong_types(lines: list[Any], further: list[Any], facts: dict[str, Any]) -> None:
    head = b'{"recording": 2, "started": 1731696000.0}\n{"rows": {"t": [0.5], "step": [1], "loss": [2.0]}}\n'
    read(head + written(lines), json.dumps(facts).encode(), written(further))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(st.binary(max_size=60), LINES.map(lambda x: json.dumps(x).encode())), max_size=6))
def test_bytes_of_any_kind(lines: list[bytes]) -> None:
    read(b'{"recording": 2}\n' + b"\n".join(lines), b"\n".join(lines))


def damaged(whole: bytes) -> Iterator[bytes]:
    for at in range(0, len(whole), 29):
        yield whole[:at] + whole[at + 1 :]
        yield whole[:at] + b"\n" + whole[at:]
        yield whole[:at] + b'"' + whole[at + 3 :]


def test_damage_loses_only_what_it_hits(tmp_path: Path) -> None:
    tape = Tape(tmp_path / ".traindx" / "r")
    tape.names(layer=["a", "b"])
    for _ in range(8):
        tape.rows(2, loss=[2.0, 1.5], lr=0.5)
        tape.sample(layer={"grad_norm": [1.0, 2.0]})
    for piece in damaged(tape.path.read_bytes()):
        (run,) = read(piece)
        assert len(run.series["loss"]) >= 14


def test_lists_of_different_length(tmp_path: Path) -> None:
    tape = Tape(tmp_path / ".traindx" / "r")
    tape.rows(3, loss=[1.0, 2.0, 3.0, 4.0], lr=[0.1], grad_norm=[], accuracy=["0.5", "x", [1]])
    tape.rows(2, loss=[10**400, 5.0], lr={"a": 1})
    run = only_run(traindx.read(tape.folder))
    assert run.series["loss"].values.tolist() == [1.0, 2.0, 3.0, float("inf"), 5.0]
    assert run.series["lr"].values.tolist() == [0.1]
    assert run.series["accuracy"].values.tolist() == [0.5]
    assert "grad_norm" not in run.series


def test_rows_without_a_step_take_the_one_before(tmp_path: Path) -> None:
    tape = Tape(tmp_path / ".traindx" / "r")
    tape.rows(3, loss=[1.0, 2.0, 3.0])
    tape.bare({"t": 9.0, "val/loss": 7.0})
    run = only_run(traindx.read(tape.folder))
    assert run.series["val/loss"].steps.tolist() == [3.0]


def test_garbage_between_lines_is_counted(tmp_path: Path) -> None:
    tape = Tape(tmp_path / ".traindx" / "r")
    tape.rows(3, loss=[1.0, 2.0, 3.0])
    tape.bare(b'{"rows": {"step": [4, 5')
    tape.bare(b"[1, 2]")
    tape.rows(3, loss=[1.0, 2.0, 3.0])
    run = only_run(traindx.read(tape.folder))
    assert len(run.series["loss"]) == 6
    assert [n.text for n in run.notes if "torn" in n.text] == [
        "2 line(s) are torn or no JSON objects; skipped"
    ]


def test_a_setting_too_large_to_calculate_with() -> None:
    rows = b'{"recording": 2}\n{"rows": {"t": [0.5, 1.0], "step": [1, 2], "loss": [2.0, 1.0]}}\n'
    (run,) = read(rows, json.dumps({"version": 2, "config": {"lr": 10**400, "seed": 7}}).encode())
    assert run.settings == {"lr": float("inf"), "seed": 7}


def test_escapes_in_names_are_shown_as_text(tmp_path: Path) -> None:
    tape = Tape(tmp_path / ".traindx" / "r")
    tape.names(layer=["\x1b[31mred\x1b[0m", "a\nb"])
    tape.rows(1, loss=1.0)
    tape.sample(layer={"grad_norm": [1.0, 2.0]})
    (run,) = read(tape.path.read_bytes())
    assert "grad_norm/\x1b[31mred\x1b[0m" in run.series
