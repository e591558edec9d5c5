"""Defects of the code that no intervention mends at run time: one function for each, by remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from traindx.core import Place
from traindx.trial.editing.job import Job

Mender = Callable[[Job, Place | None], str]


def menders() -> Mapping[str, tuple[Mender, ...]]:
    """Remedy -> what may mend it in the source, the most certain first."""
    from traindx.trial.editing.defects import (
        code,
        data,
        logging,
        loops,
        losses,
        math,
        model,
        ranks,
        shapes,
        state,
    )

    found: dict[str, tuple[Mender, ...]] = {}
    for module in (code, data, logging, loops, losses, math, model, ranks, shapes, state):
        for remedy, functions in module.MENDERS.items():
            found[remedy] = (*found.get(remedy, ()), *functions)
    return found
