from __future__ import annotations

from pathlib import Path

import traindx
from tests.readers.truth import SAMPLES, assert_logged, read_text, truth_of, unzipped

SAMPLE = SAMPLES / "trackio" / "samples.db.gz"


def test_project() -> None:
    runs = traindx.read(str(SAMPLE)).runs
    assert [run.name.rpartition("(")[2] for run in runs] == ["red-fox)", "blue-owl)"]
    for run, truth in zip(runs, truth_of("trackio").values(), strict=True):
        assert run.format == "trackio"
        assert_logged(run, truth["series"])
        assert run.settings["lr"] == truth["config"]["learning_rate"]
        assert run.config["model.layers"] == 4


def test_corrupt_database_is_noted(tmp_path: Path) -> None:
    whole = unzipped(SAMPLE)
    for size in range(16, len(whole), len(whole) // 7):
        found = read_text(tmp_path, f"cut-{size}.db", whole[:size])
        assert found.runs or found.skipped


def test_a_database_of_something_else_is_no_run(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "app.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE metrics (id INTEGER, name TEXT)")
    connection.close()
    assert not traindx.read(str(path)).runs


def test_a_view_is_not_run(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "trap.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE VIEW metrics AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) "
            "SELECT x AS run_name, x AS step, x AS timestamp, x AS metrics FROM n"
        )
    connection.close()
    assert not traindx.read(str(path)).runs
