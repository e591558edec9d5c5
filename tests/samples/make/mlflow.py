"""Samples of MLflow: one run in the file store, two runs in the SQLite store (gzipped for size)."""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import sqlite3
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]

import mlflow  # noqa: E402


def write(out: Path) -> None:
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    out.mkdir(parents=True, exist_ok=True)
    store = out / "mlruns"
    truth = {"file": _log(f"file://{store.resolve()}", ["first"])}
    for meta in store.rglob("meta.yaml"):
        text = meta.read_text().replace(str(store.resolve()), "/somewhere/mlruns")
        meta.write_text(re.sub("user_id: .*", "user_id: me", text))
    for tag in store.rglob("tags/mlflow.*"):
        if tag.name != "mlflow.runName":
            tag.unlink()
    with tempfile.TemporaryDirectory() as scratch:
        database = Path(scratch, "mlflow.db")
        truth["database"] = _log(f"sqlite:///{database}", ["first", "second"])
        with sqlite3.connect(database) as connection:
            connection.execute("DELETE FROM tags WHERE key <> 'mlflow.runName'")
            connection.execute("UPDATE runs SET artifact_uri = '/somewhere', user_id = 'me'")
            connection.execute("UPDATE experiments SET artifact_location = '/somewhere'")
        connection.execute("VACUUM")
        connection.close()
        (out / "mlflow.db.gz").write_bytes(gzip.compress(database.read_bytes(), mtime=0))
    (out / "truth.json").write_text(json.dumps(truth, indent=1))
    _record("mlflow-skinny", mlflow.__version__)


def _log(uri: str, runs: list[str]) -> dict[str, object]:
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment("samples")
    truth: dict[str, object] = {}
    for number, name in enumerate(runs, 1):
        series: dict[str, list[list[object]]] = {"train/loss": [], "val_acc": [], "grad_norm": []}
        with mlflow.start_run(run_name=name):
            mlflow.log_params({"learning_rate": 0.1 * number, "batch_size": 32, "optimizer": "adam"})
            for step in range(0, 60, 10):
                values = {
                    "train/loss": 2.0 / (1 + step) + number,
                    "val_acc": step / 60,
                    "grad_norm": {20: math.nan, 30: math.inf}.get(step, 1.5),
                }
                mlflow.log_metrics(values, step=step)
                for key, value in values.items():
                    shown = value if math.isfinite(value) else {math.inf: "Infinity"}.get(value, "NaN")
                    series[key].append([step, shown])
        config = {"learning_rate": 0.1 * number, "batch_size": 32, "optimizer": "adam"}
        truth[name] = {"series": series, "config": config}
    return truth


def _record(library: str, version: str) -> None:
    path = HERE / "versions.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, library: version}, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
