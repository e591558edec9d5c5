"""Sample of Trackio: one project with two runs, its SQLite file gzipped for size."""

from __future__ import annotations

import gzip
import json
import math
import os
import sqlite3
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]


def write(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    truth: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TRACKIO_DIR"] = scratch
        os.environ["HF_HUB_OFFLINE"] = "1"
        import trackio

        for number, name in enumerate(("red-fox", "blue-owl"), 1):
            truth[name] = _log(trackio, name, number)
        database = Path(scratch, "samples.db")
        with sqlite3.connect(database) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        (out / "samples.db.gz").write_bytes(gzip.compress(database.read_bytes(), mtime=0))
        version = trackio.__version__
    (out / "truth.json").write_text(json.dumps(truth, indent=1))
    path = HERE / "versions.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, "trackio": version}, indent=2, sort_keys=True) + "\n")


def _log(trackio, name: str, number: int) -> dict[str, object]:  # type: ignore[no-untyped-def]
    config = {"learning_rate": 0.01 * number, "model": {"layers": 4}}
    trackio.init(project="samples", name=name, config=config)
    names = ("train/loss", "val/loss", "optim/lr", "grad_norm")
    series: dict[str, list[list[object]]] = {name: [] for name in names}
    for step in range(0, 12, 2):
        loss, norm = 3.0 / (1 + step) + number, {4: math.nan, 6: math.inf}.get(step, 0.5)
        trackio.log(
            {"train/loss": loss, "optim": {"lr": 0.01}, "grad_norm": norm, "comment": "text"}, step=step
        )
        series["train/loss"].append([step, loss])
        series["optim/lr"].append([step, 0.01])
        shown = norm if math.isfinite(norm) else "Infinity" if norm == math.inf else "NaN"
        series["grad_norm"].append([step, shown])
        if step % 4 == 0:
            trackio.log({"val/loss": loss * 1.1}, step=step)
            series["val/loss"].append([step, loss * 1.1])
    trackio.finish()
    return {"series": series, "config": config}


if __name__ == "__main__":
    write(Path(sys.argv[1]))
