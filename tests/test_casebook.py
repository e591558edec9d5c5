"""The casebook: written line by line, read whatever stands in it, mentioned later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from traindx.cli import cli
from traindx.experiment.casebook import Entry, add, entries, for_cause, path_of, search, sentence

HELPED = Entry(
    date="2026-01-02T03:04:05Z",
    script="train.py",
    symptom="divergence",
    cause="lr_too_high",
    remedy="lower_lr",
    change="scale_lr factor=0.1",
    verdict="helped",
    metric="val/loss",
    before=2.5,
    after=0.25,
    gain=0.9,
    pairs=3,
    p=0.25,
    steps=100,
    edited=True,
)


def test_what_is_added_is_read_again(tmp_path: Path) -> None:
    failed = replace(HELPED, verdict="not judged", before=None, after=None, gain=None, said="it crashed")
    add([HELPED, failed], tmp_path)
    add([replace(HELPED, before=float("inf"))], tmp_path)
    assert entries(tmp_path) == [HELPED, failed, replace(HELPED, before=None)]


@given(st.lists(st.one_of(st.binary(max_size=60), st.just(b'{"date": 3}'), st.just(b"[1]")), max_size=5))
def test_foreign_lines_are_passed_over(lines: list[bytes]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path_of(folder).parent.mkdir()
        path_of(folder).write_bytes(b"\n".join([line.replace(b"\n", b"") for line in lines]) + b"\n")
        add([HELPED], folder)
        assert entries(folder)[-1:] == [HELPED]


def test_search_wants_every_word() -> None:
    other = replace(HELPED, cause="no_warmup", verdict="hurt")
    assert search([HELPED, other], ["helped"]) == [HELPED]
    assert search([HELPED, other], ["TRAIN.py", "hurt"]) == [other]
    assert search([HELPED, other], ["nothing"]) == []


def test_what_worked_is_told_by_its_cause(tmp_path: Path) -> None:
    add([HELPED, replace(HELPED, verdict="cannot tell", change="warm_up steps=9")], tmp_path)
    assert for_cause("lr_too_high", tmp_path) == [HELPED]
    assert for_cause("bad_init", tmp_path) == []
    assert "2.5 -> 0.25" in sentence(HELPED)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    none = CliRunner().invoke(cli, ["casebook"])
    assert none.exit_code == 2
    assert "traindx treat" in none.output
    add([HELPED, replace(HELPED, cause="no\x1b[31m_warmup")], tmp_path)
    told = CliRunner().invoke(cli, ["casebook", "lower_lr"])
    assert told.exit_code == 0
    assert "scale_lr factor=0.1" in told.output
    assert "\x1b" not in told.output
