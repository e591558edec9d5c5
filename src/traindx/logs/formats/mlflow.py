"""MLflow runs: the file store (`mlruns/<experiment>/<run>/`) and the SQLite store (`mlflow.db`).

In the file store each metric is a file below `metrics/` (folders are part of its name) with lines
`<timestamp in ms> <value> <step>`; `params/`, `tags/` and `meta.yaml` give the configuration. One
metric file alone is read too. In the SQLite store every active run becomes a run; the `is_nan` flag
and the largest float, which stand for NaN and Inf there, are turned back. The database is opened
read-only and never changed.

Quirks: lines without a step (old versions), and metrics logged again and again at step 0 because no
step was given: these are counted in the order they were logged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

import numpy as np

from traindx.core.nouns import FloatArray
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import csvs, sqlites, yamls
from traindx.logs.log import Column, Log
from traindx.logs.log_file import File

_METRIC_LINE = re.compile(rb"\s*\d{10,16} (?:[-+.\deE]+|-?nan|-?inf)(?: -?\d+)?(?: \S.*)?\r?(?:\n|$)", re.I)
_TABLES = {"metrics": {"key", "value", "timestamp", "run_uuid"}, "runs": {"run_uuid"}}
_LARGEST = 1.7976931348623157e308
_STATUS = {1: "running", 2: "scheduled", 3: "finished", 4: "failed", 5: "killed"}


def claim(file: File) -> Claim | None:
    """A metric file, something of a run's folder, or the database."""
    if file.head.startswith(sqlites.MAGIC):
        columns = sqlites.table_columns(file, *_TABLES)
        fits = all(needed <= columns.get(table, set()) for table, needed in _TABLES.items())
        return Claim(file.shown) if fits else None
    if file.name == "meta.yaml" and re.search(rb"^(artifact_uri|artifact_location):", file.head, re.M):
        return Claim(file.folder, part=True)
    folder = _run_folder(file, "metrics")
    if _METRIC_LINE.match(file.head):
        return Claim(folder or file.shown)
    for kind in ("params", "tags"):
        below = _run_folder(file, kind)
        if below is not None and _has_meta(file, below):
            return Claim(below, part=True)
    return None


def read(bundle: Bundle) -> Iterator[Log]:
    """The runs of a database, or the one run of a folder."""
    if bundle.files[0].head.startswith(sqlites.MAGIC):
        yield from _database(bundle.files[0])
        return
    log = Log([])
    for file in bundle.files:
        kind, name = _place(file, bundle.run)
        if kind == "params" or (kind == "tags" and name in ("mlflow.runName", "mlflow.source.name")):
            text = file.read(8192).decode("utf-8", "replace").strip()
            log.config[name] = yamls.scalar(text) if kind == "params" else text
        elif file.name == "meta.yaml":
            status = yamls.load(file.read(65536)).get("status")
            if isinstance(status, int) and status in _STATUS:
                log.config["mlflow.status"] = _STATUS[status]
        elif kind == "metrics" and (column := _metric(file, name, log)) is not None:
            log.columns.append(column)
    yield log


def _run_folder(file: File, kind: str) -> str | None:
    """The run a file in `<run>/<kind>/...` belongs to: the outermost such folder with a `meta.yaml`."""
    parts = PurePath(file.folder).parts
    places = [at for at, part in enumerate(parts) if part == kind and at]
    folders = [str(PurePath(*parts[:at])) for at in places]
    return next((folder for folder in folders if _has_meta(file, folder)), folders[0] if folders else None)


def _has_meta(file: File, folder: str) -> bool:
    depth = len(PurePath(file.folder).parts) - len(PurePath(folder).parts)
    above = file.path.parent
    for _ in range(depth):
        above = above.parent
    return (above / "meta.yaml").is_file()


def _place(file: File, run: str) -> tuple[str, str]:
    """Which part of the run a file is, and the name it gives."""
    if file.shown == run:
        name = file.name.rpartition("__metrics__")[2]
        return "metrics", name
    inside = PurePath(file.folder, file.name).relative_to(run).parts
    return (inside[0], "/".join(inside[1:])) if len(inside) > 1 else ("", "")


def _metric(file: File, name: str, log: Log) -> Column | None:
    table = csvs.read_table(file)
    cells = [table.values.get(f"column {n}") for n in (1, 2, 3)]
    clock, values = cells[0], cells[1]
    if clock is None or values is None:
        return None
    there = table.has("column 2")
    steps = np.zeros(table.rows) if cells[2] is None else np.where(table.has("column 3"), cells[2], np.nan)
    clock, values, steps = clock[there], values[there], steps[there]
    return _column(name, steps, values, clock, log)


def _column(name: str, steps: FloatArray, values: FloatArray, clock: FloatArray, log: Log) -> Column:
    if values.size > 1 and (steps == steps[0]).all():
        log.notes.append(f"{name}: all {values.size} values have step {steps[0]:g}; counted in logged order")
        order = np.argsort(clock, kind="stable")
        steps, values, clock = np.arange(values.size, dtype=float), values[order], clock[order]
    return Column(name, steps, values, np.where(clock > 1e11, clock / 1000, clock))


def _database(file: File) -> Iterator[Log]:
    columns = sqlites.table_columns(file, "metrics", "runs", "params", "experiments")
    step = "step" if "step" in columns.get("metrics", ()) else "0"
    is_nan = "is_nan" if "is_nan" in columns.get("metrics", ()) else "0"
    name = "name" if "name" in columns.get("runs", ()) else "''"
    stage = "lifecycle_stage" if "lifecycle_stage" in columns.get("runs", ()) else "'active'"
    with sqlites.opened(file) as db:
        logged: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
        query = f"SELECT run_uuid, key, {step}, value, timestamp, {is_nan} FROM metrics"
        for run, key, at, value, clock, nan in sqlites.rows(file, db, query):
            point = _point(at, value, clock, nan)
            if point is not None:
                logged.setdefault(str(run), {}).setdefault(str(key), []).append(point)
        titles = {
            str(r): (str(n or ""), s)
            for r, n, s in sqlites.rows(file, db, f"SELECT run_uuid, {name}, {stage} FROM runs")
        }
        config: dict[str, dict[str, object]] = {}
        if {"key", "value", "run_uuid"} <= columns.get("params", set()):
            for run, key, text in sqlites.rows(file, db, "SELECT run_uuid, key, value FROM params"):
                config.setdefault(str(run), {})[str(key)] = yamls.scalar(str(text))
    deleted = sum(titles.get(run, ("", ""))[1] == "deleted" for run in logged)
    if deleted:
        file.note(f"{deleted} deleted run(s) left out")
    titles_of_runs = [title for run in logged for title in [titles.get(run, ("", ""))[0]]]
    for run, metrics in logged.items():
        title, life = titles.get(run, ("", ""))
        if life == "deleted":
            continue
        label = title if title and titles_of_runs.count(title) == 1 else f"{title} {run[:8]}".strip()
        log = Log([], config=config.get(run, {}), name=label)
        for key, points in metrics.items():
            cut = np.array(points)
            log.columns.append(_column(key, cut[:, 0], cut[:, 1], cut[:, 2], log))
        yield log


def _point(step: object, value: object, clock: object, nan: object) -> tuple[float, float, float] | None:
    if not isinstance(value, int | float) or not isinstance(step, int | float):
        return None
    number = float("nan") if nan in (1, True) else float(value)
    if abs(number) >= _LARGEST:
        number = float("inf") if number > 0 else float("-inf")
    return float(step), number, float(clock) if isinstance(clock, int | float) else float("nan")


READER = Reader("mlflow", "MLflow file store or SQLite store", 30, claim, read)
