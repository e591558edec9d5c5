"""Interventions as source: one function for each, that writes it into the draft and says what it did."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.job import Job

Maker = Callable[[Job, Mapping[str, Scalar]], str]


def makers() -> Mapping[str, Maker]:
    """Intervention -> what writes it into a script."""
    found: dict[str, Maker] = {}
    for info in pkgutil.iter_modules(__path__):
        found |= importlib.import_module(f"{__name__}.{info.name}").MAKERS
    return found


def value_of(values: Mapping[str, Scalar], name: str, default: float | None = None) -> float:
    """A number of a change; raises ValueError when it is not given."""
    given = values.get(name, default)
    if not isinstance(given, int | float) or isinstance(given, bool):
        raise ValueError(f"{name} is no number: {given!r}")
    return float(given)
