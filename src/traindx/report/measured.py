"""The case of a run, built once for all parts of a report."""

from __future__ import annotations

from functools import lru_cache

from traindx.core.nouns import Run
from traindx.evidence.case import Case


@lru_cache(maxsize=4)
def case_of(run: Run) -> Case:
    """The run as the detectors see it; the same one again while a report is made of it."""
    return Case(run)
