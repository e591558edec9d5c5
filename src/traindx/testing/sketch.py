"""Small made-up runs: the cases that stand in each detector's file, and the simulation study.

A sketch is deterministic: the same arguments give the same curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.core.names import METRICS, parts
from traindx.core.nouns import Axis, Event, Run, Scalar, Series

if TYPE_CHECKING:
    import numpy.typing as npt

    from traindx.core.nouns import FloatArray

    Values = Sequence[float] | npt.NDArray[np.number]


def run(
    series: Mapping[str, Values | tuple[Values, Values]],
    *,
    axis: Axis = "step",
    settings: Mapping[str, Scalar] | None = None,
    events: Sequence[Event] = (),
    traits: Sequence[str] = (),
    facts: Mapping[str, Any] | None = None,
) -> Run:
    """A run of the named curves; a curve is its values, or its steps and its values."""
    made = {}
    for name, points in series.items():
        steps, values = points if isinstance(points, tuple) else (np.arange(len(points)), points)
        metric = METRICS.get(parts(name).metric)
        made[name] = Series(
            name=name,
            steps=np.asarray(steps, dtype=np.float64),
            values=np.asarray(values, dtype=np.float64),
            source=name,
            goal=metric.goal if metric else "none",
            floor=metric.floor if metric else None,
            axis=axis,
        )
    return Run(
        name="sketch",
        path="sketch",
        formats=("sketch",),
        axis=axis,
        series=made,
        settings=dict(settings or {}),
        events=tuple(events),
        traits=frozenset(traits),
        facts=dict(facts or {}),
    )


def measured(**facts: Any) -> Run:
    """A run of which nothing is known but what was measured beside it."""
    return run({}, facts=facts)


def noisy(values: Values, noise: float, *, seed: int = 0, relative: bool = True) -> FloatArray:
    """The values with Gaussian noise, relative to their size or absolute."""
    clean = np.asarray(values, dtype=np.float64)
    draw = np.random.default_rng(seed).standard_normal(clean.size)
    made: FloatArray = clean * np.exp(noise * draw) if relative else clean + noise * draw
    return made


def decay(points: int, start: float, end: float, *, rate: float = 5.0) -> FloatArray:
    """From `start` towards `end`; `rate` half-way constants fit into the curve."""
    made: FloatArray = end + (start - end) * np.exp(-rate * np.arange(points) / points)
    return made


def power(points: int, start: float, floor: float, *, exponent: float = 0.5) -> FloatArray:
    """A power law as language models show it."""
    made: FloatArray = floor + (start - floor) * np.power(1.0 + np.arange(points), -exponent)
    return made
