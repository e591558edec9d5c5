"""The journal: whole lines or nothing, and never an exception."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from traindx.observe.journal import Journal


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def test_lines_follow_a_header(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run", 3, 100.5)
    assert journal.append(b'{"a": 1}\n')
    assert journal.append(b'{"a": 2}\n')
    head, *rest = lines(tmp_path / "run" / "rank-3.jsonl")
    assert head == {"recording": 2, "started": 100.5, "rank": 3, "pid": os.getpid()}
    assert rest == [{"a": 1}, {"a": 2}]
    assert journal.size == journal.path.stat().st_size


def test_a_full_disk_is_counted_not_raised(tmp_path: Path) -> None:
    (tmp_path / "rank-0.jsonl").symlink_to("/dev/full")
    journal = Journal(tmp_path, 0, 0.0)
    assert not journal.append(b'{"a": 1}\n{"a": 2}\n')
    assert journal.dropped == 2
    assert journal.error == "the disk was full"


def test_a_write_cut_short_leaves_later_lines_readable(tmp_path: Path) -> None:
    """A file size limit cuts one write in the middle; once it is lifted the journal goes on."""
    code = f"""
import resource, signal
from pathlib import Path
from traindx.observe.journal import Journal
journal = Journal(Path({str(tmp_path)!r}), 0, 0.0)
journal.append(b'{{"a": 1}}\\n')
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (journal.size + 5, hard))
assert not journal.append(b'{{"b": "cut short"}}\\n')
assert not journal.append(b'{{"b": 2}}\\n')
assert journal.dropped == 2
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
assert journal.append(b'{{"c": 3}}\\n')
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    found = []
    for line in (tmp_path / "rank-0.jsonl").read_bytes().split(b"\n")[1:]:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    assert found == [{"a": 1}, {"c": 3}]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 5


def test_no_folder_to_write_in(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    journal = Journal(tmp_path / "file" / "run", 0, 0.0)
    assert not journal.append(b"{}\n")
    assert not journal.facts({"version": 2})
    assert journal.dropped == 1
    assert journal.error


def test_a_deleted_recording_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traindx.observe.journal._CHECK_EVERY", 0.0)
    folder = tmp_path / "run"
    journal = Journal(folder, 0, 0.0)
    journal.append(b'{"a": 1}\n')
    journal.path.unlink()
    folder.rmdir()
    journal.append(b'{"a": 2}\n')
    head, lost, after = lines(journal.path)
    assert head["recording"] == 2
    assert lost["event"] == "recording_lost"
    assert after == {"a": 2}


def test_facts_are_replaced_in_one_move(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 0, 0.0)
    assert journal.facts({"version": 2, "loss": float("nan"), "odd": {1, 2}.__class__})
    before = (tmp_path / "run.json").stat().st_ino
    assert journal.facts({"version": 2, "name": "x"})
    assert json.loads((tmp_path / "run.json").read_text())["name"] == "x"
    assert (tmp_path / "run.json").stat().st_ino != before
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
