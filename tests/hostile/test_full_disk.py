"""The disk fills up while a training is recorded: it goes on, and its end and what was lost are known."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import traindx
from tests.run_scripts.calling import Result, facts, recorded
from traindx.observe.journal import ROOM, Journal

SMALL = 256 << 10
# Prints more than fits; what it leaves on the way is recorded as text, so no torch is needed.
PRINTS = """
import os, sys, time
way = sys.argv[1]
for step in range(1, 121):
    print("step", step, "loss", 1 / step, "x" * 3000)
    time.sleep(0.01)
    if step == 80 and way == "room":
        os.unlink("filler")
    if step == 100 and way == "room":
        print("after the gap")
if way == "kill":
    os.kill(os.getpid(), 9)
if way == "raise":
    raise ValueError("the labels")
"""
WATCHES = """
import traindx
with traindx.watch(out="rec"):
    for step in range(1, 301):
        print("step", step, "loss", 1 / step, "x" * 3000)
"""


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, with 256 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not permitted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def run(folder: Path, way: str) -> Result:
    (folder / "train.py").write_text(PRINTS)
    result = recorded(folder, "--out", "rec", "train.py", way)
    assert result.out.count("loss") == 120
    return result


def notes(folder: Path) -> str:
    (found,) = traindx.read(folder).runs
    return "\n".join(note.text for note in found.notes)


@pytest.mark.parametrize(
    ("way", "code", "how"), [("finish", 0, "finished"), ("raise", 1, "exception"), ("kill", -9, "killed")]
)
def test_the_end_is_known(small: Path, way: str, code: int, how: str) -> None:
    result = run(small, way)
    assert result.code == code
    rec = small / "rec"
    assert sorted(path.name for path in rec.iterdir()) == ["rank-0.jsonl", "run.json"]
    told = facts(rec)
    assert told["ended"]["how"] == how
    assert "still runs" not in notes(rec)
    if way == "kill":
        return
    assert told["dropped"] > 0
    line = f"the disk was full: {told['dropped']} lines"
    assert f"traindx: {line} of the recording were lost\n" in result.err
    assert f"{line} lost" in notes(rec)


def test_room_that_comes_back_is_used(small: Path) -> None:
    (small / "filler").write_bytes(os.urandom(112 << 10))
    result = run(small, "room")
    rec = small / "rec"
    told = facts(rec)
    text = (rec / "rank-0.jsonl").read_text()
    assert result.code == 0
    assert told["ended"]["how"] == "finished"
    assert "after the gap" in text
    assert 0 < told["dropped"] < 120
    assert "the disk was full" in notes(rec)


def test_watch_knows_its_end_as_well(small: Path) -> None:
    (small / "train.py").write_text(WATCHES)
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=small, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert facts(small / "rec")["ended"]["how"] == "finished"
    assert facts(small / "rec")["dropped"] > 0


def test_facts_too_large_for_the_room_leave_the_old_with_the_end(small: Path) -> None:
    journal = Journal(small / "rec", 0, 0.0)
    assert journal.begin()
    assert journal.facts({"version": 2, "name": "x", "ended": None})
    room = (small / "rec" / ROOM).stat().st_size
    with open(small / "filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(os.urandom(4096)):
            pass
    large = {"version": 2, "name": "x", "layers": "y" * 2 * room, "ended": {"how": "finished"}, "dropped": 3}
    assert not journal.append(b"z" * room + b"\n")
    assert not journal.facts(large)
    journal.end()
    assert journal.append(b'{"event": "ended"}\n')
    assert journal.facts(large)
    journal.close()
    told = json.loads((small / "rec" / "run.json").read_text())
    assert told == {"version": 2, "name": "x", "ended": {"how": "finished"}, "dropped": 3}
    assert not (small / "rec" / ROOM).exists()


def test_room_grows_with_the_facts(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 0, 0.0)
    journal.begin()
    before = (tmp_path / ROOM).stat().st_size
    journal.facts({"layers": "y" * 100_000})
    assert (tmp_path / ROOM).stat().st_size >= before + 100_000
    journal.end()
    journal.facts({"ended": {"how": "finished"}})
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["rank-0.jsonl", "run.json"]
