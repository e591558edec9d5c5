"""Gzipped files that unpack to a thousand times their size: memory stays bounded, and it is said."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import pytest

import traindx
from tests.hostile.measured import reading
from traindx.logs import jsons
from traindx.logs.log_file import File

PACKED = 900_000
MEMORY_MOST = 750  # MiB; Python, NumPy and our own modules take 45
ENDS = "far more than logs do: the rest was left out"

# What the file begins with, and what comes again and again.
KINDS = {
    "list.json": (b'{"loss": [0.4', b",0.5"),
    "rows.json": (b'[{"loss":1,"step":0}', b',{"loss":1,"step":1}'),
    "nested.json": (b'[{"loss":1,"step":0}', b',{"loss":1,"step":1,"a":{}}'),
    "download.json": (b"[[1700000000,0,3]", b",[1700000000,1,2]"),
    "lines.jsonl": (b'{"loss":2,"step":0}\n', b'{"loss":1,"step":1}\n'),
    "odd.jsonl": (b'{"loss":2,"step":0}\n', b'{"loss":1,"step":1,"phase":"train","x":[]}\n'),
    "table.csv": (b"step,loss\n0,3\n", b"1,2\n"),
    "text.log": (b"step 0 loss 3.5\nstep 1 loss 3.0\nstep 2 loss 2.75\n", b"step 3 loss 2.5\n"),
    "long.log": (b"step 0 loss 3.5\nstep 1 loss 3.0\nstep 2 loss 2.75\n", b"x"),
}


def bomb(path: Path, begin: bytes, again: bytes, packed: int = PACKED) -> Path:
    """Members of 16 MiB each, one after the other: gzip reads them as one file."""
    piece = gzip.compress(again * ((16 << 20) // len(again)), 9)
    path.write_bytes(gzip.compress(begin) + piece * max(1, packed // len(piece)))
    return path


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_a_small_file_takes_little_memory(tmp_path: Path, name: str) -> None:
    path = bomb(tmp_path / f"{name}.gz", *KINDS[name])
    assert path.stat().st_size < 1_000_000
    told = reading(path)
    assert told["mib"] < MEMORY_MOST
    assert any(ENDS in note for note in told["notes"])


def test_what_is_left_of_a_cut_file_is_read(tmp_path: Path) -> None:
    path = bomb(tmp_path / "lines.jsonl.gz", *KINDS["lines.jsonl"], packed=500_000)
    [run] = traindx.read(path).runs
    assert run.series["loss"].values[0] == 2
    assert [note.text for note in run.notes if ENDS in note.text] == [
        "it unpacks to more than 16 MiB, far more than logs do: the rest was left out; unpack it by hand to "
        "read it"
    ]


def test_ordinary_logs_are_read_whole(tmp_path: Path) -> None:
    """The most regular log there is: packed thirteen times smaller."""
    lines = [json.dumps({"step": n, "loss": 0.0, "lr": 0.001, "epoch": n // 1000}) for n in range(350_000)]
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 9))
    file = File(path)
    assert len("\n".join(lines)) > 16 << 20
    assert len(file.read()) == len("\n".join(lines))
    assert not file.notes


def test_a_database_that_is_cut_is_none(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "x.db") as db:
        db.execute("CREATE TABLE metrics (key, value, timestamp, run_uuid, step)")
        db.execute("CREATE TABLE runs (run_uuid)")
        db.execute("INSERT INTO metrics VALUES ('loss', 1.0, 1, 'a', zeroblob(30000000))")
    db.close()
    path = tmp_path / "mlflow.db.gz"
    path.write_bytes(gzip.compress((tmp_path / "x.db").read_bytes(), 9))
    told = traindx.read(path)
    assert not told.runs
    assert [note.text for note in told.skipped] == [
        "it unpacks to more than 16 MiB; unpack it by hand to read it"
    ]


def test_documents_of_too_many_values_are_read_up_to_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsons, "MAX_VALUES", 500_000)
    path = tmp_path / "log.json"
    path.write_text(json.dumps([{"step": n, "loss": 1 / (n + 1)} for n in range(100_000)]))
    [run] = traindx.read(path).runs
    assert 1000 < run.points < 100_000
    assert any("too many values" in note.text for note in run.notes)
