"""All points of all runs as one long table."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import TextIO

from traindx.core.nouns import Run
from traindx.report.text import visible

HEADER = ("run", "series", "source", "step", "value", "time")


# Spreadsheets take these for the beginning of a formula, the wide forms too.
_FORMULA = re.compile(r"\s*[=+@\-\uff1d\uff0b\uff20\uff0d]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_points(runs: Iterable[Run], out: TextIO, *, raw: bool = False) -> None:
    """One row per point; NaN is `nan`, infinity `inf`, an unknown time is an empty cell.

    A name that a spreadsheet would take for a formula has an apostrophe before it, unless `raw`.
    """
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for run in runs:
        for series in run.series.values():
            steps = [int(step) if step.is_integer() else step for step in series.steps.tolist()]
            times: list[object] = [""] * len(series) if series.times is None else series.times.tolist()
            label = [visible(text) for text in (run.name, series.name, series.source)]
            label = label if raw else [_as_text(text) for text in label]
            writer.writerows(
                (*label, step, value, time if time == time else "")
                for step, value, time in zip(steps, series.values.tolist(), times, strict=True)
            )


def _as_text(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
