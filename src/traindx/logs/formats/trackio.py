"""Trackio projects: the SQLite file (`~/.cache/huggingface/trackio/<project>.db`), one run per run in it.

Every row of its `metrics` table holds one logged dict as JSON; NaN and Inf are written there as the
strings "NaN" and "Infinity". Nested dicts become names with `/`. The configuration comes from
`configs` and alerts become events. The database is opened read-only and never changed; when a
write-ahead log is next to it, a copy of both is read, so a live run shows its newest rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import numpy as np

from traindx.core.nouns import Event
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import jsons, sqlites
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.tables import logs_from_table

_NEEDED = {"run_name", "step", "metrics", "timestamp"}
_STEP, _TIME = "trackio step", "trackio time"


def claim(file: File) -> Claim | None:
    """A SQLite file whose `metrics` table has Trackio's columns."""
    if not file.head.startswith(sqlites.MAGIC):
        return None
    columns = sqlites.table_columns(file, "metrics")
    return Claim(file.shown) if columns.get("metrics", set()) >= _NEEDED else None


def read(bundle: Bundle) -> Iterator[Log]:
    """One log per run name (and id) in the project."""
    file = bundle.files[0]
    columns = sqlites.table_columns(file, "metrics", "configs", "alerts")
    key = "run_id" if "run_id" in columns.get("metrics", ()) else "run_name"
    rows: dict[str, list[jsons.Row]] = {}
    labels: dict[str, str] = {}
    with sqlites.opened(file) as db:
        query = f"SELECT {key}, run_name, step, timestamp, metrics FROM metrics ORDER BY rowid"
        for run, name, step, clock, metrics in sqlites.rows(file, db, query):
            cells = _json(metrics)
            if cells:
                cells[_STEP], cells[_TIME] = step, _seconds(clock)
                rows.setdefault(str(run), []).append(cells)
                labels[str(run)] = str(name)
        config: dict[str, dict[str, object]] = {}
        if "config" in columns.get("configs", ()) and key in columns["configs"]:
            for run, text in sqlites.rows(file, db, f"SELECT {key}, config FROM configs"):
                config[str(run)] = {k: v for k, v in _json(text).items() if not k.startswith("_")}
        events: dict[str, list[Event]] = {}
        if {key, "title", "text", "step"} <= columns.get("alerts", set()):
            query = f"SELECT {key}, title, text, step FROM alerts"
            for run, title, text, step in sqlites.rows(file, db, query):
                at = float(step) if isinstance(step, int | float) else None
                alert = Event("alert", f"{title}: {text or ''}".rstrip(": "), at)
                events.setdefault(str(run), []).append(alert)
    names = list(labels.values())
    for run, logged in rows.items():
        label = labels[run] if names.count(labels[run]) == 1 else f"{labels[run]} {run[:8]}"
        yield from _logs(logged, label, config.get(run, {}), events.get(run, []))


def _logs(
    logged: list[jsons.Row], label: str, config: dict[str, object], events: list[Event]
) -> Iterator[Log]:
    table = jsons.table_of(logged)
    for log in logs_from_table(table, step=_STEP, axis="step", config=config, events=events, times=_TIME):
        log.name = f"{label}, {log.name}" if log.name else label
        yield log


def _json(raw: object) -> jsons.Row:
    data = raw if isinstance(raw, bytes) else str(raw or "").encode("utf-8", "replace")
    return jsons.parse_line(data) or {}


def _seconds(text: object) -> float:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError, OSError):
        return float(np.nan)


READER = Reader("trackio", "Trackio project (SQLite)", 31, claim, read)
