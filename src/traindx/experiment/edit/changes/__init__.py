"""Changes at run time as source: one function each, named as its change, writes the edit and describes it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache

from traindx.core.nouns import Scalar
from traindx.experiment.runtime.change import change_specs


@cache
def edits_by_change() -> Mapping[str, Callable[..., str]]:
    """Change -> the function of its name, which writes it into a script."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    return {id: getattr(module, id) for module in modules for id in change_specs() if hasattr(module, id)}


def value_of(values: Mapping[str, Scalar], name: str, default: float | None = None) -> float:
    """A number of a change; raises ValueError when it has none."""
    value = values.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{name} is not a number: {value!r}")
    return float(value)
