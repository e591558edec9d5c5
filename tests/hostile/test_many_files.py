"""Folders of a hundred thousand files, and of thousands of runs that begin alike."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import traindx
from tests.hostile.commands import traindx as command
from tests.hostile.measured import reading
from traindx.logs import find

ENDINGS = {"empty": "log", "csv": "csv", "text": "txt"}
LOG = "step,loss\n" + "".join(f"{step},{2 / step:.4f}\n" for step in range(1, 40))


def test_a_folder_of_more_than_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note says so; what was searched is read."""
    monkeypatch.setattr(find, "_ENTRIES_MOST", 100)
    for number in range(200):
        (tmp_path / f"{number:03}.csv").write_text(LOG.replace("1,2.0", f"1,{number}.0"))
    found = traindx.read(tmp_path)
    assert len(found.runs) == 100
    [note] = found.skipped
    assert note.path == str(tmp_path)
    assert "files and folders: only as many were searched" in note.text


def test_as_many_as_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "_ENTRIES_MOST", 10)
    for number in range(5):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "log.csv").write_text(LOG.replace("1,2.0", f"1,{number}.0"))
    found = traindx.read(tmp_path)
    assert len(found.runs) == 5
    assert not found.skipped


def test_runs_that_begin_alike_are_held_against_few(tmp_path: Path) -> None:
    """Each against all others would take minutes; copies are still found."""
    for number in range(1000):
        rng = random.Random(number)
        other = "".join(f"{step},{rng.random():.4f}\n" for step in range(2, 30))
        (tmp_path / f"{number}.csv").write_text(f"step,loss\n1,2.5\n{other}")
    (tmp_path / "copy.csv").write_text((tmp_path / "77.csv").read_text())
    (tmp_path / "start.csv").write_text("".join((tmp_path / "88.csv").read_text().splitlines(True)[:5]))
    told = reading(tmp_path)
    assert told["runs"] == 1000
    assert told["seconds"] < 20
    assert sum("counted once" in note for note in told["notes"]) == 2


@pytest.mark.long
@pytest.mark.parametrize("kind", ENDINGS)
def test_a_hundred_thousand_files(tmp_path: Path, kind: str) -> None:
    """Memory does not grow with what lies in them, and what was left out is said."""
    text = {"empty": "", "csv": LOG, "text": "nothing to see here, move along\n" * 2100}[kind]
    count = 100_500 if kind != "text" else 4000
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(count):
        path = folder / f"{number}.{ENDINGS[kind]}"
        if kind == "csv" or not number % 50_000:  # a file system allows so many names of one file
            first = path
            path.write_text(text.replace("1,2.0", f"1,{number}.0"))
        else:
            os.link(first, path)
    told = reading(folder, timeout=900)
    assert told["mib"] < (1000 if kind == "csv" else 200)
    if count > 100_000:
        assert any("more than 100,000 files and folders" in note for note in told["notes"])
    if kind == "empty":
        said = command(tmp_path, "inspect", "many", code=2)
        assert len(said) < 5000
