from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import traindx
from tests.readers.truth import SAMPLES, assert_logged, only_run, read_text, truth_of, unzipped

STORE = SAMPLES / "mlflow"


def test_file_store() -> None:
    run = only_run(traindx.read(str(STORE / "mlruns")))
    truth = truth_of("mlflow")["file"]["first"]
    assert run.format == "mlflow"
    assert_logged(run, truth["series"])
    assert run.settings["lr"] == truth["config"]["learning_rate"]
    assert run.settings["optimizer"] == "adam"
    assert run.config["mlflow.runName"] == "first"
    times = run.series["loss"].times
    assert times is not None
    assert 1.5e9 < times[0] < 2.5e9


def test_single_metric_file() -> None:
    path = next((STORE / "mlruns").rglob("metrics/train/loss"))
    run = only_run(traindx.read(str(path)))
    assert_logged(run, {"train/loss": truth_of("mlflow")["file"]["first"]["series"]["train/loss"]})


def test_database() -> None:
    runs = traindx.read(str(STORE / "mlflow.db.gz")).runs
    truth = truth_of("mlflow")["database"]
    assert [run.name.rpartition("(")[2] for run in runs] == ["first)", "second)"]
    for run, name in zip(runs, ("first", "second"), strict=True):
        assert_logged(run, truth[name]["series"])
        assert run.settings["batch_size"] == 32


def test_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    path.write_bytes(unzipped(STORE / "mlflow.db.gz"))
    before = path.stat()
    assert len(traindx.read(str(tmp_path)).runs) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["mlflow.db"]
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (before.st_mtime_ns, before.st_size)


def test_rows_in_the_write_ahead_log_are_read(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    path.write_bytes(unzipped(STORE / "mlflow.db.gz"))
    writer = sqlite3.connect(path)
    try:
        writer.execute("PRAGMA journal_mode=WAL")
        run = writer.execute("SELECT run_uuid FROM runs WHERE name='first'").fetchone()[0]
        writer.execute("INSERT INTO metrics VALUES ('late', 1.5, 1794778208566, ?, 7, 0)", (run,))
        writer.commit()
        names = sorted(p.name for p in tmp_path.iterdir())
        found = traindx.read(str(path)).runs
        assert "late" in found[0].series
        assert sorted(p.name for p in tmp_path.iterdir()) == names
    finally:
        writer.close()


def test_corrupt_database_is_noted(tmp_path: Path) -> None:
    whole = unzipped(STORE / "mlflow.db.gz")
    for size in (100, 5000, len(whole) // 2):
        found = read_text(tmp_path, f"cut-{size}.db", whole[:size])
        assert found.runs or found.skipped


@pytest.mark.parametrize(
    ("content", "steps", "values"),
    [
        ("1664364007310 3.25 0\n", [0], [3.25]),
        ("1664364007310 3.25\n1664364007311 2.5\n", [0, 1], [3.25, 2.5]),
        ("1664364007310 3 0\n1664364007311 2 0\n1664364007312 nan 0\n", [0, 1, 2], [3, 2, float("nan")]),
        ("1664364007310 3 5\n1664364007311 2 6\n16643640", [5, 6], [3, 2]),
        ("1664364007310 3 5 data 1f2e\n1664364007311 2 6 data 1f2e\n", [5, 6], [3, 2]),
    ],
)
def test_metric_lines(tmp_path: Path, content: str, steps: list[float], values: list[float]) -> None:
    run = only_run(read_text(tmp_path, "x__mlruns__0__metrics__loss", content))
    assert_logged(run, {"loss": zip(steps, values, strict=True)})
