"""The time of a run by the clocks of its series."""

from __future__ import annotations

import math

import numpy as np

from traindx.core.nouns import FloatArray, Run


def clocks(run: Run) -> list[FloatArray]:
    """The finite times of every series that has any."""
    times = [series.times for series in run.series.values() if series.times is not None]
    finite = [series_times[np.isfinite(series_times)] for series_times in times]
    return [series_times for series_times in finite if series_times.size]


def duration(run: Run) -> float | None:
    """Seconds from the first to the last point; None where the log does not tell the time."""
    times = clocks(run)
    last = max((float(series_times.max()) for series_times in times), default=math.nan)
    seconds = last - min((float(series_times.min()) for series_times in times), default=math.nan)
    return seconds if seconds > 0 else None
