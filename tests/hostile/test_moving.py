"""Files that grow, shrink, vanish and come back while they are read, and folders that lead in circles."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import traindx

SAMPLES = Path(__file__).parents[1] / "samples"
FORMATS = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir() and path.name != "make")
LINE = {
    "log.csv": ("step,loss\n", "{n},{loss:.6f}\n"),
    "log.jsonl": ("", '{{"step": {n}, "loss": {loss:.6f}}}\n'),
    "log.log": ("", "step {n} loss {loss:.6f}\n"),
}


@pytest.fixture(autouse=True)
def exceptions_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINDX_DEBUG", "1")


@contextmanager
def meanwhile(step: object) -> Iterator[None]:
    """Do something again and again in a thread."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            step()  # type: ignore[operator]

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def lines(name: str, first: int, count: int) -> bytes:
    begin, line = LINE[name]
    text = "".join(line.format(n=n, loss=2 / (n + 1)) for n in range(first, first + count))
    return ((begin if not first else "") + text).encode()


@pytest.mark.parametrize("name", LINE)
def test_a_file_that_grows_faster_than_it_is_read(tmp_path: Path, name: str) -> None:
    """What it held at the beginning is read, no more."""
    path = tmp_path / name
    path.write_bytes(lines(name, 0, 20_000))
    more, written = lines(name, 20_000, 20_000), [1]

    def grow() -> None:
        if written[0] < 50:
            with open(path, "ab") as file:
                file.write(more)
            written[0] += 1
        time.sleep(0.001)

    with meanwhile(grow):
        began = time.process_time()
        [run] = traindx.read(path).runs
        took = time.process_time() - began
    assert took < 30
    assert 0 < len(run.series["loss"]) <= 20_000 * written[0]


@pytest.mark.parametrize("name", LINE)
def test_a_file_that_shrinks_and_vanishes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    data = lines(name, 0, 100_000)
    rng = random.Random(5)

    def move() -> None:
        how = rng.randrange(4)
        with suppress(FileNotFoundError):
            if how == 0:
                os.truncate(path, rng.randrange(len(data)))
            elif how == 1:
                path.unlink()
            elif how == 2:
                path.write_bytes(data[: rng.randrange(len(data))])
            else:
                path.write_bytes(data)
        time.sleep(0.001)

    with meanwhile(move):
        for _ in range(12):
            for note in traindx.read(path).skipped:
                assert "\n" not in note.text


@pytest.mark.long
@pytest.mark.parametrize("folder", FORMATS)
def test_samples_of_every_format_that_move(tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder
    shutil.copytree(SAMPLES / folder, place)
    files = {path: path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
    rng = random.Random(9)

    def move() -> None:
        path = rng.choice(list(files))
        data = files[path]
        with suppress(FileNotFoundError):
            if rng.random() < 0.3:
                path.unlink()
            else:
                path.write_bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.6 else data)

    with meanwhile(move):
        for _ in range(60):
            traindx.read(place)


_CUT = """
import os, sqlite3, sys
from traindx.logs.log_file import File
from traindx.logs import sqlites
file = File(__import__("pathlib").Path(sys.argv[1]))
with sqlites.opened(file) as db:
    rows = sqlites.rows(file, db, "SELECT key, value FROM metrics")
    for _ in range(10):
        next(rows)
    os.truncate(sys.argv[1], 4096)
    print(sum(1 for _ in rows), [note.text for note in file.notes])
"""


def test_a_database_cut_short_while_it_is_read(tmp_path: Path) -> None:
    """Through a memory map this would end the process with SIGBUS."""
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE metrics (key, value)")
        db.executemany("INSERT INTO metrics VALUES (?, ?)", [("x" * 500, n) for n in range(20_000)])
    db.close()
    done = subprocess.run([sys.executable, "-c", _CUT, path], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert b"damaged" in done.stdout


def test_nothing_is_read_through_a_memory_map() -> None:
    for path in (Path(traindx.__file__).parent).rglob("*.py"):
        assert "mmap" not in path.read_text(encoding="utf-8").replace("mmap_size=0", ""), path


def test_folders_that_lead_in_circles(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "log.csv").write_bytes(lines("log.csv", 0, 30))
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "root").symlink_to("/proc/self/root" + str(tmp_path))
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "a" / "one.csv").symlink_to("two.csv")
    (tmp_path / "a" / "two.csv").symlink_to("one.csv")
    (tmp_path / "a" / "again.csv").symlink_to("log.csv")
    (tmp_path / "a" / "nowhere.csv").symlink_to("nothing.csv")
    found = traindx.read(tmp_path)
    assert len(found.runs) == 1
    assert {Path(note.path).name for note in found.skipped} == {"self", "one.csv", "two.csv"}
    assert {note.text for note in found.skipped} == {"too many levels of symbolic links"}
    assert "symbolic links" in traindx.read(tmp_path / "a" / "self").skipped[0].text


def test_folders_in_folders_in_folders(tmp_path: Path) -> None:
    """Deeper than Python's stack and than the system's longest path."""
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        for _ in range(1500):
            os.mkdir("deep")
            os.chdir("deep")
    finally:
        os.chdir(before)
    (tmp_path / "log.csv").write_bytes(lines("log.csv", 0, 30))
    found = traindx.read(tmp_path)
    subprocess.run(["rm", "-rf", tmp_path / "deep"], check=True)
    assert len(found.runs) == 1
    assert [note.text for note in found.skipped] == ["file name too long"]


def test_names_of_all_kinds(tmp_path: Path) -> None:
    for name in (b"\xff\xfe.csv", b"a\nb.csv", b"\x1b[31m.csv", b" .csv", b"-.csv", "ä\u202e.csv".encode()):
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
            file.write(lines("log.csv", 0, 30).replace(b"0.5", str(name[0]).encode()))
    assert len(traindx.read(tmp_path).runs) == 6
