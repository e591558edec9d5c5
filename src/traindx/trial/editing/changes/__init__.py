"""Interventions as source: one function for each, that writes it into the draft and says what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from traindx.core import Scalar
from traindx.trial.editing.job import Job

Maker = Callable[[Job, Mapping[str, Scalar]], str]


def makers() -> Mapping[str, Maker]:
    """Intervention -> what writes it into a script."""
    from traindx.trial.editing.changes import (
        activations,
        clipping,
        gradients,
        inits,
        inputs,
        loaders,
        losses,
        modes,
        norms,
        optimizers,
        outputs,
        parameters,
        precision,
        rates,
        schedules,
    )

    found: dict[str, Maker] = {}
    for module in (
        activations,
        clipping,
        gradients,
        inits,
        inputs,
        loaders,
        losses,
        modes,
        norms,
        optimizers,
        outputs,
        parameters,
        precision,
        rates,
        schedules,
    ):
        found |= module.MAKERS
    return found


def value_of(values: Mapping[str, Scalar], name: str, default: float | None = None) -> float:
    """A number of a change; raises ValueError when it is not given."""
    given = values.get(name, default)
    if not isinstance(given, int | float) or isinstance(given, bool):
        raise ValueError(f"{name} is no number: {given!r}")
    return float(given)
