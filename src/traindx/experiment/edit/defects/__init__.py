"""Defects of the code that no intervention mends at run time: one function for each, by remedy."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping

from traindx.core.nouns import Place
from traindx.experiment.edit.job import Job

Mender = Callable[[Job, Place | None], str]


def menders() -> Mapping[str, tuple[Mender, ...]]:
    """Remedy -> what may mend it in the source, the most certain first."""
    found: dict[str, tuple[Mender, ...]] = {}
    for info in pkgutil.iter_modules(__path__):
        for remedy, functions in importlib.import_module(f"{__name__}.{info.name}").MENDERS.items():
            found[remedy] = (*found.get(remedy, ()), *functions)
    return found
