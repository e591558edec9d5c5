"""Runs as JSON for programs: schema `traindx/runs/1`, described in docs/json.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from traindx import __version__
from traindx.core.nouns import Reading, Run, Series
from traindx.report.architecture import architectures
from traindx.report.json_text import encoded, json_bytes, number
from traindx.report.summary import summarize

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

SCHEMA = "traindx/runs/1"
_EXACT = 2.0**53
_READ_BY_EYE = 1000


def runs_document(reading: Reading, *, points: bool = True) -> bytes:
    """The whole document, or without points. JSON has no NaN: numbers that are not finite are strings."""
    document = {
        "schema": SCHEMA,
        "traindx": __version__,
        "runs": [_run(run, points) for run in reading.runs],
        "skipped": encoded(reading.skipped),
    }
    return json_bytes(document, indent=sum(run.points for run in reading.runs) <= _READ_BY_EYE)


def _run(run: Run, points: bool) -> dict[str, Any]:
    document = encoded(
        {
            "name": run.name,
            "path": run.path,
            "format": run.format,
            "formats": run.formats,
            "axis": run.axis,
            "last_step": run.last_step,
            "files": run.files,
            "traits": sorted(run.traits),
            "settings": run.settings,
            "config": run.config,
            "events": run.events,
            "notes": run.notes,
            "models": [model.to_dict() for model in architectures(run)],
        }
    )
    return {**document, "series": [_series(series, points) for series in run.series.values() if len(series)]}


def _series(series: Series, points: bool) -> dict[str, Any]:
    summary = summarize(series)
    best = None if summary.best is None else {"step": summary.best_step, "value": summary.best}
    document = encoded(
        {
            "name": series.name,
            "source": series.source,
            "goal": series.goal,
            "floor": series.floor,
            "axis": series.axis,
            "derived": series.derived,
            "points": summary.points,
            "first": summary.first,
            "last": summary.last,
            "best": best,
            "nan": summary.nans,
            "inf": summary.infs,
        }
    )
    if not points:
        return dict(document)
    times = None if series.times is None else numbers(series.times)
    return {**document, "steps": numbers(series.steps), "values": numbers(series.values), "times": times}


def numbers(array: FloatArray) -> list[Any]:
    """As the encoder would, but all at once: a run may have a million points."""
    finite = np.isfinite(array)
    if finite.all():
        whole = array.size and (np.abs(array) < _EXACT).all() and (array == np.floor(array)).all()
        listed: list[Any] = (array.astype(np.int64) if whole else array).tolist()
        return listed
    listed = array.tolist()
    for at in np.flatnonzero(~finite).tolist():
        listed[at] = number(listed[at])
    return listed
