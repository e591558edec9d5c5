"""SQLite files made to hang, to fill the memory or to run code: read as far as plain tables go."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import traindx
from tests.hostile.measured import reading
from traindx.core.nouns import Reading
from traindx.logs import sqlites
from traindx.logs.log_file import File

MLFLOW = """
CREATE TABLE runs (run_uuid TEXT, name TEXT, lifecycle_stage TEXT);
CREATE TABLE metrics (key TEXT, value FLOAT, timestamp INTEGER, run_uuid TEXT, step INTEGER, is_nan INTEGER);
CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);
INSERT INTO runs VALUES ('aaaaaaaa', 'first', 'active');
"""
TRACKIO = """
CREATE TABLE metrics (run_name TEXT, step INTEGER, metrics TEXT, timestamp TEXT);
CREATE TABLE configs (run_name TEXT, config TEXT);
"""
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n)"
LAST = {
    "mlflow": "('loss', 0.01, 1700000000099, 'aaaaaaaa', 99, 0)",
    "trackio": """('first', 99, '{"loss": 0.01}', '')""",
}
SECONDS = 20


def mlflow(path: Path, points: int = 20) -> sqlite3.Connection:
    db = sqlite3.connect(path)
    db.executescript(MLFLOW)
    rows = [("loss", 2 / (n + 1), 1_700_000_000_000 + n, "aaaaaaaa", n, 0) for n in range(points)]
    db.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", rows)
    db.commit()
    return db


def trackio(path: Path, points: int = 20) -> sqlite3.Connection:
    db = sqlite3.connect(path)
    db.executescript(TRACKIO)
    rows = [("first", n, f'{{"loss": {2 / (n + 1)}}}', f"2026-01-01T00:00:{n:02}") for n in range(points)]
    db.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?)", rows)
    db.commit()
    return db


MAKERS: dict[str, Callable[[Path], sqlite3.Connection]] = {"mlflow": mlflow, "trackio": trackio}


def looked_at(path: Path) -> Reading:
    began = time.process_time()
    found = traindx.read(path)
    assert time.process_time() - began < SECONDS
    for note in found.skipped:
        assert "please report" not in note.text
    return found


def rewritten(db: sqlite3.Connection, name: str, text: str) -> None:
    """Another text for a table in the schema: SQLite goes by it, whatever stands beside."""
    db.execute("PRAGMA writable_schema=ON")
    db.execute("UPDATE sqlite_master SET sql = ?, rootpage = 0 WHERE name = ?", (text, name))
    db.commit()
    db.close()


@pytest.mark.parametrize("kind", MAKERS)
def test_sound_databases_are_read(tmp_path: Path, kind: str) -> None:
    MAKERS[kind](tmp_path / "x.db").close()
    [run] = looked_at(tmp_path / "x.db").runs
    assert len(run.series["loss"]) == 20
    assert not run.notes


@pytest.mark.parametrize("kind", MAKERS)
def test_a_view_in_place_of_a_table(tmp_path: Path, kind: str) -> None:
    db = MAKERS[kind](tmp_path / "x.db")
    columns = [row[1] for row in db.execute("PRAGMA table_info(metrics)")]
    db.execute("DROP TABLE metrics")
    parts = ", ".join(f"x AS {one}" for one in columns)
    db.execute(f"CREATE VIEW metrics AS {ENDLESS} SELECT {parts} FROM n")
    db.commit()
    db.close()
    assert not looked_at(tmp_path / "x.db").runs


@pytest.mark.parametrize("kind", MAKERS)
def test_a_view_that_says_it_is_a_table(tmp_path: Path, kind: str) -> None:
    db = MAKERS[kind](tmp_path / "x.db")
    columns = [row[1] for row in db.execute("PRAGMA table_info(metrics)")]
    parts = ", ".join(f"x AS {one}" for one in columns)
    rewritten(db, "metrics", f"CREATE VIEW metrics AS {ENDLESS} SELECT {parts} FROM n")
    assert not looked_at(tmp_path / "x.db").runs


def test_a_virtual_table(tmp_path: Path) -> None:
    db = mlflow(tmp_path / "x.db")
    columns = [row[1] for row in db.execute("PRAGMA table_info(metrics)")]
    db.execute("DROP TABLE metrics")
    try:
        db.execute(f"CREATE VIRTUAL TABLE metrics USING fts5({', '.join(columns)})")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no virtual tables of texts")
    db.execute(f"INSERT INTO metrics VALUES ({', '.join(['1'] * len(columns))})")
    db.commit()
    db.close()
    assert not looked_at(tmp_path / "x.db").runs


def test_columns_that_compute_what_they_hold(tmp_path: Path) -> None:
    """Half a gigabyte of text for every row, from a file of a few kilobytes."""
    db = mlflow(tmp_path / "x.db")
    db.execute("DROP TABLE params")
    db.execute("CREATE TABLE params (key TEXT, run_uuid TEXT, value TEXT AS (hex(zeroblob(250000000))))")
    db.execute("INSERT INTO params VALUES ('a', 'aaaaaaaa')")
    db.commit()
    db.close()
    told = reading(tmp_path / "x.db")
    assert told["mib"] < 150
    assert told["points"] == [20]


def test_triggers_do_not_run_and_nothing_is_written(tmp_path: Path) -> None:
    db = mlflow(tmp_path / "x.db")
    db.execute("CREATE TRIGGER t AFTER INSERT ON metrics BEGIN DELETE FROM runs; END")
    db.execute("CREATE TEMP TABLE gone (x)")
    db.commit()
    db.close()
    before = (tmp_path / "x.db").read_bytes()
    [run] = looked_at(tmp_path / "x.db").runs
    assert len(run.series["loss"]) == 20
    assert (tmp_path / "x.db").read_bytes() == before
    assert os.listdir(tmp_path) == ["x.db"]


@pytest.mark.parametrize("statement", ["ATTACH 'x' AS y", "DELETE FROM runs", "PRAGMA user_version=3"])
def test_a_connection_does_nothing_but_read(tmp_path: Path, statement: str) -> None:
    mlflow(tmp_path / "x.db").close()
    with sqlites.opened(File(tmp_path / "x.db")) as db, pytest.raises(sqlite3.DatabaseError):
        db.execute(statement)


def test_queries_that_do_not_end_are_broken_off(tmp_path: Path) -> None:
    mlflow(tmp_path / "x.db", points=2000).close()
    file = File(tmp_path / "x.db")
    began = time.process_time()
    with sqlites.opened(file) as db:
        endless = "SELECT count(*) FROM metrics a, metrics b, metrics c, metrics d"
        db.set_authorizer(None)
        assert not list(sqlites.rows(file, db, endless))
    assert time.process_time() - began < SECONDS
    assert [note.text for note in file.notes] == [
        "the SQLite database takes longer than its size explains; read up to there"
    ]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_cell_that_fills_the_memory(tmp_path: Path, kind: str) -> None:
    db = MAKERS[kind](tmp_path / "x.db")
    if kind == "mlflow":
        db.execute("INSERT INTO params VALUES ('a', ?, 'aaaaaaaa')", ("x" * 40_000_000,))
    else:
        cell = '{"loss": [' + "1," * 20_000_000 + "1]}"
        db.execute("INSERT INTO metrics VALUES ('first', 99, ?, '')", (cell,))
    db.commit()
    db.close()
    told = reading(tmp_path / "x.db")
    assert told["mib"] < 300
    assert told["points"] in ([19], [20])  # Python's module drops the row before an error
    assert "the SQLite database holds a cell of more than 32 MiB; read up to there" in told["notes"]


def test_millions_of_rows_are_read_whole(tmp_path: Path) -> None:
    """The limit of steps is far above what reading takes."""
    mlflow(tmp_path / "x.db", points=300_000).close()
    [run] = looked_at(tmp_path / "x.db").runs
    assert len(run.series["loss"]) == 300_000
    assert not run.notes


@pytest.mark.parametrize("kind", MAKERS)
def test_a_write_ahead_log_beside(tmp_path: Path, kind: str) -> None:
    """Newer rows are in it; a damaged one hides nothing of the database, and a pipe is none."""
    path, wal = tmp_path / "x.db", tmp_path / "x.db-wal"
    with closing(MAKERS[kind](path)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute(f"INSERT INTO metrics VALUES {LAST[kind]}")
        db.commit()
        [run] = looked_at(path).runs
        assert len(run.series["loss"]) == 21
        data, log = path.read_bytes(), wal.read_bytes()
    rng = random.Random(7)
    for _ in range(20):
        path.write_bytes(data)
        spoilt = bytearray(log[: rng.randrange(len(log))])
        for _ in range(5):
            spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
        wal.write_bytes(spoilt)
        looked_at(path)
    wal.unlink()
    os.mkfifo(wal)
    [run] = looked_at(path).runs
    assert len(run.series["loss"]) == 20


@pytest.mark.parametrize("kind", MAKERS)
def test_corrupt_pages(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.db"
    MAKERS[kind](path).close()
    data = path.read_bytes()
    rng = random.Random(3)
    for _ in range(150):
        spoilt = bytearray(data)
        for _ in range(rng.choice((1, 5, 50))):
            at = rng.randrange(100 if rng.random() < 0.3 else len(spoilt))
            spoilt[at] = rng.randrange(256)
        path.write_bytes(spoilt[: rng.choice((len(spoilt), rng.randrange(len(spoilt))))])
        looked_at(path)


@pytest.mark.long
@pytest.mark.parametrize("kind", MAKERS)
def test_many_corrupt_pages(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.db"
    MAKERS[kind](path, points=2000).close()  # type: ignore[call-arg]
    data = path.read_bytes()
    for seed in range(3000):
        rng = random.Random(seed)
        spoilt = bytearray(data)
        for _ in range(rng.choice((1, 3, 20, 200))):
            at = rng.randrange(rng.choice((100, 4096, len(spoilt))))
            spoilt[at : at + rng.choice((1, 1, 8, 300))] = rng.randbytes(rng.choice((1, 1, 8, 300)))
        path.write_bytes(spoilt)
        looked_at(path)
