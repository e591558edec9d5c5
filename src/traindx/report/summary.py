"""What one curve comes to: its ends, its best point, what in it is not finite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traindx.core.nouns import Run, Series
from traindx.evidence.curve import Curve


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
        best_step, best = Curve(series).best_point
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
    """The curve that stands for the run: its loss, else one that has a goal, else the first."""
    filled = [series for series in run.series.values() if len(series)]
    named = {series.name: series for series in filled}
    for name in ("loss", "val/loss", "reward"):
        if name in named:
            return named[name]
    judged = [series for series in filled if series.goal != "none"]
    return next(iter(judged or filled), None)


def duration(run: Run) -> float | None:
    """Seconds from the first to the last point, when the log tells the time."""
    clocks = [s.times[np.isfinite(s.times)] for s in run.series.values() if s.times is not None]
    clocks = [clock for clock in clocks if clock.size]
    if not clocks:
        return None
    seconds = float(max(c.max() for c in clocks) - min(c.min() for c in clocks))
    return seconds if seconds > 0 else None
