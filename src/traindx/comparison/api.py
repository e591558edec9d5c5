"""`traindx.compare`: runs, or files and folders of runs, side by side."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from traindx.core.nouns import Run

if TYPE_CHECKING:
    from traindx.comparison.compare import Comparison


def compare(
    *runs: Run | str | os.PathLike[str], metric: str | None = None, target: float | None = None
) -> Comparison:
    """What differs between runs, which is better and how surely, where they part, what to try next.

    `metric` is what to compare by (default: the best one that all share), `target` a value of it to race for.
    Raises ValueError with one line when there is nothing to compare.
    """
    from traindx.comparison.compare import TooFew, compare
    from traindx.comparison.metric import NothingShared
    from traindx.comparison.subjects import subjects
    from traindx.engine import diagnose, read

    read_runs: list[Run] = []
    for item in runs:
        read_runs += [item] if isinstance(item, Run) else read(item).runs
    try:
        return compare(
            subjects(read_runs, [diagnose(run) for run in read_runs]), metric=metric, target=target
        )
    except (NothingShared, TooFew) as error:
        raise ValueError(str(error)) from None
