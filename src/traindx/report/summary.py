"""A summary of one curve: its ends, its best point, and its NaN and Inf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.clocks import duration
from traindx.core.facts import word
from traindx.core.nouns import Run, Series
from traindx.core.units import readers
from traindx.report.text import count, lasting, short

if TYPE_CHECKING:
    from traindx.evidence.case import Case


@dataclass(frozen=True)
class Summary:
    """`best` follows the series' goal; it is None when there is no goal or no finite value."""

    points: int
    first: float
    last: float
    best: float | None
    best_step: float | None
    nans: int
    infs: int


def summarize(series: Series) -> Summary:
    """Summarize a curve that has at least one point."""
    values = series.values
    finite = np.isfinite(values)
    nans = int(np.isnan(values).sum())
    best = best_step = None
    if series.goal != "none" and finite.any():
        best_step, best = series.best_point
    return Summary(
        points=len(series),
        first=float(values[0]),
        last=float(values[-1]),
        best=best,
        best_step=best_step,
        nans=nans,
        infs=int(values.size - finite.sum()) - nans,
    )


def main_series(run: Run) -> Series | None:
    """The main curve of the run: its loss, else one that has a goal, else the first."""
    filled = [series for series in run.series.values() if len(series)]
    by_name = {series.name: series for series in filled}
    for name in ("loss", "val/loss", "reward"):
        if name in by_name:
            return by_name[name]
    with_goal = [series for series in filled if series.goal != "none"]
    return next(iter(with_goal or filled), None)


def final_losses(case: Case) -> dict[str, float]:
    """The last value of each loss that was logged, NaN and Inf too."""
    curves = {"training": case.loss, "validation": case.val_loss}
    return {
        name: float(curve.series.values[-1])
        for name, curve in curves.items()
        if curve is not None and len(curve.series)
    }


def epochs_completed(case: Case) -> int | None:
    """Whole epochs; an epoch that the log counts from 0 is the first."""
    curve, last = case.loss or case.val_loss, case.run.last_step
    if curve is None or last is None or not case.epoch_length or not len(curve.series):
        return None
    counted_from_zero = case.run.axis == "epoch" and curve.series.whole and curve.series.steps[0] == 0
    return int(last / case.epoch_length + 1e-6) + int(counted_from_zero)


def run_facts(run: Run) -> list[tuple[str, str]]:
    """Format, length and kind of a run, in words."""
    if isinstance(fact := run.facts.get("checked"), Mapping):
        labels = (("kind", "kind"), ("size", "summary"), ("data", "chosen"))
        return [(name, text) for name, key in labels if (text := word(fact, key))]
    titles = {unit.id: unit.title for unit in readers()}
    length = [f"{count(len(run.series), 'series', 'series')}, {count(run.points, 'point')}"]
    length += [f"last {run.axis} {short(run.last_step)}"] if run.last_step is not None else []
    length += [f"over {lasting(seconds)}"] if (seconds := duration(run)) else []
    facts = [
        ("format", " + ".join(titles.get(part, part) for part in run.formats)),
        ("length", ", ".join(length)),
    ]
    return [*facts, ("kind", ", ".join(sorted(run.traits)))] if run.traits else facts
