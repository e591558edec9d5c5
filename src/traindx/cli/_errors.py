"""What to tell somebody when the input was not what they thought."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from traindx.cli import Failure, say
from traindx.core.names import parse_overrides, refers
from traindx.core.nouns import Note, Run
from traindx.report.text import visible

_EXPECTED = "Give a training log or a run folder (docs/formats.md lists what is read)."


def nothing_read(paths: Sequence[str], skipped: Sequence[Note]) -> Failure:
    """One line: what happened, what was expected, what to do."""
    if not skipped:
        where = ", ".join(visible(path, 60) for path in paths[:3]) + (", ..." if len(paths) > 3 else "")
        return Failure(f"{where}: no training run found in it. {_EXPECTED}")
    first = f"{visible(skipped[0].path, 80)}: {visible(skipped[0].text, 200).rstrip('.')}"
    further = f" (and {len(skipped) - 1} more that could not be read)" if len(skipped) > 1 else ""
    return Failure(f"{first}{further}. {_EXPECTED}")


def warn_unused_maps(maps: Sequence[str], runs: Sequence[Run]) -> None:
    """Say it when a column named by --map is in none of the runs."""
    columns = {series.source for run in runs for series in run.series.values()}
    for name, column in parse_overrides(maps).items():
        if runs and not any(refers(column, column_name) for column_name in columns):
            near = get_close_matches(column, sorted(columns), n=1, cutoff=0.0)
            hint = f"; the nearest is {visible(near[0], 60)!r}" if near else ""
            text = f"--map {visible(name)}: no run has a column {visible(column)!r}{hint}."
            say(f"Warning: {text}")
