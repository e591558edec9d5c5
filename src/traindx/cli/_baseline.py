"""`traindx compare --baseline GOOD BAD...`: diagnoses sharpened by a reference run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from traindx.cli import Failure
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.comparison.baseline import Sharpened
    from traindx.comparison.compare import Comparison
    from traindx.core.nouns import Reading, Run


def find_baseline(path: str, reading: Reading, maps: tuple[str, ...]) -> Run:
    """The one run of the baseline, as the common reading holds it."""
    from traindx.cli.inspect_ import read_runs

    reference = read_runs((path,), maps)
    if not reference.runs:
        from traindx.cli._errors import nothing_read

        raise nothing_read((path,), reference.skipped)
    if len(reference.runs) > 1:
        names = ", ".join(visible(run.name, 80) for run in reference.runs[:3])
        raise Failure(
            f"--baseline takes one run, but {visible(path, 120)} holds {len(reference.runs)}: {names}. "
            "Name one."
        )
    reference_files = {os.path.realpath(file) for file in reference.runs[0].files}
    for run in reading.runs:
        if reference_files & {os.path.realpath(file) for file in run.files}:
            return run
    raise Failure(f"{visible(path, 120)} could not be read together with the other runs.")


def sharpened(comparison: Comparison, baseline: Run) -> list[Sharpened]:
    """The diagnosis of every other run, by the baseline."""
    from traindx.comparison.baseline import sharpen

    good = next((number for number, run in enumerate(comparison.runs) if run.run is baseline), None)
    if good is None:
        raise Failure("the baseline is the same run as one of the others: give two different ones.")
    return [sharpen(comparison, bad, good) for bad in range(len(comparison.runs)) if bad != good]
