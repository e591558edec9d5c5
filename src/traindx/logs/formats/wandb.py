"""Weights & Biases run folders (`offline-run-*`, `run-*`), read without the wandb package.

The history comes from the binary datastore `run-*.wandb`, also while it is being written: a torn end
is read up to the tear, blocks with a wrong checksum are skipped. The configuration comes from the
datastore and from `files/config.yaml`. A run whose history is not on disk (it was sent to the server)
gives its last values from `files/wandb-summary.json`: one point per series, and a note says so.

The step is `_step`, unless the run defined a step metric (`define_metric`) or logs a counter such as
`train/global_step` in every row. `_timestamp` gives the times. Nested keys are joined by dots. NaN and
Infinity are kept; images, tables, histograms and text are skipped. Of the system metrics, how busy the
GPUs are, their memory and that of the process are read, at the steps they fall into. `latest-run` is a
link to a run and not another one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from traindx.core import names
from traindx.core.nouns import Axis, FloatArray, IntArray, Unreadable
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import yamls
from traindx.logs.log import Column, Log
from traindx.logs.log_file import File
from traindx.logs.wandb_store import MAGIC, Store, parse_json, put, read_store

_SUMMARY = "wandb-summary.json"
_RUN_FOLDER = re.compile(r"^(offline-)?run-\d{8}_\d{6}-[^/]+$|^latest-run$")
_OUTPUT = "output.log"
_PARTS = {"config.yaml", "wandb-metadata.json", _OUTPUT}
_JSON_LIMIT = 64 * 1024 * 1024


def claim(file: File) -> Claim | None:
    """Datastores by their magic; summaries and configurations by name and place."""
    folder = Path(file.folder)
    if file.name.endswith(".wandb"):
        return Claim(_run(file, folder)) if file.head.startswith(MAGIC) else None
    lead, separator, _ = file.name.rpartition(_SUMMARY)
    if separator and file.name.endswith(_SUMMARY) and file.head.lstrip().startswith(b"{"):
        if lead:
            return Claim(os.path.join(file.folder, lead.rstrip("_-. ")))
        return Claim(_run(file, folder.parent if folder.name == "files" else folder))
    if file.name in _PARTS and folder.name == "files" and _RUN_FOLDER.match(folder.parent.name):
        return Claim(_run(file, folder.parent), part=True)
    return None


def _run(file: File, folder: Path) -> str:
    """The run's folder; the link `latest-run` gives way to what it points to."""
    if folder.name == "latest-run":
        disk = file.path.parent if file.name.endswith(".wandb") else file.path.parent.parent
        try:
            return str(folder.parent / os.path.basename(os.readlink(disk)))
        except OSError:
            pass
    return str(folder)


def read(bundle: Bundle) -> Iterable[Log]:
    """One log per datastore, or one from the summary when there is no history."""
    config: dict[str, object] = {}
    summary: dict[str, object] = {}
    stores: list[Store] = []
    for file in bundle.files:
        if file.name.endswith(".wandb"):
            stores.append(_store(file))
            summary = {**stores[-1].summary, **summary}
        elif file.name.endswith(_SUMMARY):
            values = parse_json(file.read(_JSON_LIMIT))
            if not isinstance(values, dict):
                file.note("the summary is not valid JSON")
            else:
                summary.update(values)
        elif file.name == "config.yaml":
            config.update(_unwrapped(yamls.load(file.read(_JSON_LIMIT))))
    logs = []
    for store in stores:
        if store.rows and store.columns:
            logs.append(Log(*_columns(store), config={**_unwrapped(store.config), **config}))
        else:
            config = {**_unwrapped(store.config), **config}
    if not logs:
        logs = _printed(bundle, config) or [_last_values(summary, config)]
    return logs


def _printed(bundle: Bundle, config: dict[str, object]) -> list[Log]:
    """Without a history, what the run printed."""
    from traindx.logs.text.read import logs_of

    for file in bundle.files:
        if file.name == _OUTPUT:
            try:
                logs = logs_of(file)
            except Unreadable:
                return []
            for log in logs:
                log.config = {**log.config, **config}
                log.notes.append("no history was logged; these are the numbers the run printed")
            return logs
    return []


def _store(file: File) -> Store:
    try:
        store = read_store(file)
    except Unreadable as error:
        file.note(str(error))
        return Store()
    if store.lost:
        file.note(f"{store.lost} damaged blocks or records were skipped")
    if store.torn:
        file.note("the last record is not complete (still being written, or cut off)")
    return store


def _unwrapped(config: dict[str, object]) -> dict[str, object]:
    """Settings without W&B's own, and out of their `{desc, value}` wrapping."""
    plain: dict[str, object] = {}
    for key, value in config.items():
        if key in ("_wandb", "wandb_version"):
            continue
        wrapped = isinstance(value, dict) and "value" in value and set(value) <= {"desc", "value"}
        plain[key] = value["value"] if wrapped and isinstance(value, dict) else value
    return plain


def _is_own(name: str) -> bool:
    return name.startswith("_") and name.split(".")[0] in ("_step", "_timestamp", "_runtime", "_wandb")


def _columns(store: Store) -> tuple[list[Column], Axis]:
    """The history as columns, each with the steps it is counted by."""
    logged = {key: (np.array(rows), np.array(values)) for key, (rows, values) in store.columns.items()}
    by_row = {key: _per_row(store.rows, *logged[key]) for key in logged}
    counter = _counter(store, logged)
    default = by_row.get(counter) if counter else None
    if default is None:
        default = np.arange(store.rows, dtype=float)
    times = by_row.get("_timestamp")
    defined = _defined_steps(store)
    columns: list[Column] = []
    axes: list[Axis] = []
    for key, (rows, values) in logged.items():
        if _is_own(key) or key == counter or key in defined.values():
            continue
        step_key = defined.get(key)
        steps, axis = default[rows], names.axis_of(counter.lstrip("_")) or "step" if counter else "row"
        if step_key is not None and step_key in by_row and np.isfinite(by_row[step_key][rows]).all():
            steps, axis = by_row[step_key][rows], names.axis_of(step_key) or "step"
        clock = times[rows] if times is not None else None
        columns.append(Column(key, steps, values, clock, axis=axis))
        axes.append(axis)
    if times is not None and axes:
        columns += _system_columns(store, default, times)
    return columns, max(dict.fromkeys(axes), key=axes.count, default="step")


_SYSTEM_METRICS = frozenset({"gpu_busy_share", "gpu_mem_share", "gpu_mem_bytes", "rss_bytes"})


def _system_columns(store: Store, steps: FloatArray, times: FloatArray) -> Iterator[Column]:
    """Measurements of the machine, each at the step that was the last one logged at its time."""
    logged = np.isfinite(times) & np.isfinite(steps)
    steps, times = steps[logged], times[logged]
    if not steps.size:
        return
    for key, (when, values) in store.system.items():
        if names.understand(f"system.{key}").metric in _SYSTEM_METRICS:
            rows = np.maximum(np.searchsorted(times, when, side="right") - 1, 0)
            yield Column(f"system.{key}", steps[rows], np.array(values), np.array(when))


def _per_row(size: int, rows: IntArray, values: FloatArray) -> FloatArray:
    full = np.full(size, np.nan)
    full[rows] = values
    return full


def _counter(store: Store, logged: dict[str, tuple[IntArray, FloatArray]]) -> str:
    """The column that counts steps: a counter logged in every row, else `_step`."""
    counters = []
    for key, (rows, values) in logged.items():
        rank = names.counter_rank(key)
        is_complete = rows.size == store.rows and np.isfinite(values).all()
        if rank is None or key.startswith("_") or names.axis_of(key) != "step" or not is_complete:
            continue
        moves = np.diff(values)
        # of one row alone it cannot be seen what counts
        advances = (moves > 0).any() if store.rows > 1 else key.endswith("global_step")
        if (moves >= 0).all() and advances:
            counters.append((rank, key))
    return min(counters)[1] if counters else "_step" if "_step" in logged else ""


def _defined_steps(store: Store) -> dict[str, str]:
    """By `define_metric`: which metric counts the steps of which."""
    exact: dict[str, str] = {}
    globs: list[tuple[str, str]] = []
    for name, glob, step, index in store.metrics:
        if not step and 0 < index <= len(store.metrics):
            step = store.metrics[index - 1][0]
        if step and not step.startswith("_") and name:
            exact[name] = step
        elif step and not step.startswith("_") and glob:
            globs.append((glob, step))
    for key in store.columns:
        for glob, step in globs:
            if key not in exact and key != step and fnmatchcase(key, glob):
                exact[key] = step
    return exact


def _last_values(summary: dict[str, object], config: dict[str, object]) -> Log:
    """A summary as series of one point."""
    store = Store(rows=1)
    for key, value in summary.items():
        put(store, key, 0, value)
    columns, axis = _columns(store)
    notes = ["only the summary (the last value of each metric) is here, not the history"] if columns else []
    return Log(columns, axis, config=config, notes=notes)


READER = Reader("wandb", "Weights & Biases run folder", 20, claim, read)
