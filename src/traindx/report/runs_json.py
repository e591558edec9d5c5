"""Runs as JSON for programs: schema `traindx/runs/1`, described in docs/json.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx import __version__
from traindx.core.nouns import Note, Reading, Run, Series
from traindx.report.json_text import json_bytes
from traindx.report.summary import summarize
from traindx.report.text import encodable

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

SCHEMA = "traindx/runs/1"
_EXACT = 2.0**53


def runs_document(reading: Reading) -> bytes:
    """The whole document. JSON has no NaN: numbers that are not finite are strings."""
    document = {
        "schema": SCHEMA,
        "traindx": __version__,
        "runs": [_run(run) for run in reading.runs],
        "skipped": _notes(reading.skipped),
    }
    return json_bytes(document, indent=_small(reading))


def _small(reading: Reading) -> bool:
    return sum(run.points for run in reading.runs) <= 1000


def _run(run: Run) -> dict[str, object]:
    return {
        "name": encodable(run.name),
        "path": encodable(run.path),
        "format": run.format,
        "formats": list(run.formats),
        "axis": run.axis,
        "last_step": _number(run.last_step),
        "files": [encodable(file) for file in run.files],
        "traits": sorted(run.traits),
        "settings": _scalars(run.settings),
        "config": _scalars(run.config),
        "events": [
            {"kind": encodable(e.kind), "text": encodable(e.text), "step": _number(e.step)}
            for e in run.events
        ],
        "notes": _notes(run.notes),
        "series": [_series(series) for series in run.series.values() if len(series)],
    }


def _series(series: Series) -> dict[str, object]:
    summary = summarize(series)
    best = None if summary.best is None else {"step": _number(summary.best_step), "value": summary.best}
    return {
        "name": encodable(series.name),
        "source": encodable(series.source),
        "goal": series.goal,
        "floor": series.floor,
        "axis": series.axis,
        "derived": None if series.derived is None else encodable(series.derived),
        "points": summary.points,
        "first": _number(summary.first),
        "last": _number(summary.last),
        "best": best,
        "nan": summary.nans,
        "inf": summary.infs,
        "steps": _numbers(series.steps),
        "values": _numbers(series.values),
        "times": None if series.times is None else _numbers(series.times),
    }


def _numbers(array: FloatArray) -> list[Any]:
    """Whole numbers without a fraction, what is not finite as text."""
    finite = np.isfinite(array)
    if finite.all():
        whole = array.size and (np.abs(array) < _EXACT).all() and (array == np.floor(array)).all()
        numbers: list[Any] = (array.astype(np.int64) if whole else array).tolist()
        return numbers
    numbers = array.tolist()
    for at in np.flatnonzero(~finite).tolist():
        numbers[at] = _number(numbers[at])
    return numbers


def _number(value: float | None) -> float | int | str | None:
    if value is None:
        return None
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return int(value) if abs(value) < _EXACT and value == int(value) else value


def _scalars(table: Mapping[str, object]) -> dict[str, object]:
    return {encodable(str(key)): _scalar(value) for key, value in table.items()}


def _scalar(value: object) -> object:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < _EXACT else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _number(value)
    return encodable(str(value))


def _notes(notes: Sequence[Note]) -> list[dict[str, str]]:
    return [{"path": encodable(note.path), "text": encodable(note.text)} for note in notes]
