"""Defects of the code that no change at run time fixes: one edit or several for each remedy."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping


def edits_by_remedy() -> Mapping[str, tuple[Callable[..., str], ...]]:
    """Remedy -> the edits that may carry it out, the most certain first."""
    edits: dict[str, tuple[Callable[..., str], ...]] = {}
    for info in pkgutil.iter_modules(__path__):
        for remedy, functions in importlib.import_module(f"{__name__}.{info.name}").EDITS.items():
            edits[remedy] = (*edits.get(remedy, ()), *functions)
    return edits
