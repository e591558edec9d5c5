"""All points of all runs as one long table."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import TextIO

from traindx.core import Run
from traindx.report.text import visible

HEADER = ("run", "series", "source", "step", "value", "time")


def write_points(runs: Iterable[Run], out: TextIO) -> None:
    """One row per point; NaN is `nan`, infinity `inf`, an unknown time is an empty cell."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for run in runs:
        for series in run.series.values():
            steps = [int(step) if step.is_integer() else step for step in series.steps.tolist()]
            times: list[object] = [""] * len(series) if series.times is None else series.times.tolist()
            label = [visible(text) for text in (run.name, series.name, series.source)]
            writer.writerows(
                (*label, step, value, time if time == time else "")
                for step, value, time in zip(steps, series.values.tolist(), times, strict=True)
            )
