"""From a reader's log to a Run: names, splits, restarts, settings, traits.

Readers return a `Log`: columns named as their writer named them. What is the same for all formats
is done here, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from traindx.core import names
from traindx.core.nouns import FloatArray, Note, Run, Scalar, Series
from traindx.logs.derived import announced_rates, detection_totals, hidden_nans
from traindx.logs.log import Column, Log

# Whole numbers beyond the range of floats cannot be calculated with.
_LARGEST = 10**300


def run_from_log(
    log: Log,
    *,
    name: str,
    path: str,
    format: str,
    files: Sequence[str] = (),
    notes: Iterable[Note] = (),
    mapping: Mapping[str, str] | None = None,
) -> Run:
    """Name, order and describe the columns of one log."""
    columns = [c for c in log.columns if c.values.size]
    columns += detection_totals(columns)
    columns += announced_rates(columns, log.events)
    named_columns = names.assign([candidate(column) for column in columns], overrides=mapping or {})
    series: dict[str, Series] = {}
    for column, named_column in sorted(
        zip(columns, named_columns, strict=True), key=lambda pair: pair[1].order
    ):
        steps, values, times = in_order(column.steps, column.values, column.times)
        factor = _factor(column.name, named_column.name, values)
        series[named_column.name] = Series(
            named_column.name,
            steps,
            values if factor == 1.0 else values * factor,
            column.name,
            named_column.goal,
            named_column.floor,
            times,
            column.derived,
            column.axis or log.axis,
        )
    config = flatten(log.config)
    events = list(log.events)
    events += hidden_nans(series)
    return Run(
        name=name,
        path=path,
        formats=(format,),
        axis=log.axis,
        series=MappingProxyType(series),
        config=MappingProxyType(config),
        settings=MappingProxyType(names.settings(config)),
        events=tuple(sorted(events, key=lambda e: (e.step is None, e.step or 0.0))),
        traits=names.traits(series),
        notes=tuple(notes) + tuple(Note(path, text) for text in log.notes),
        files=tuple(files),
        facts=MappingProxyType(log.facts),
    )


_SHARES = frozenset({"gpu_busy_share", "gpu_mem_share"})


def _factor(raw: str, name: str, values: FloatArray) -> float:
    """The factor of a column's values: `mem_mb` is converted to bytes, a `gpu_util` in percent to a share."""
    metric = names.parts(name).metric
    if metric in _SHARES and (values > 1.5).any():
        return 0.01
    return names.unit_factor(raw) if metric in _SHARES or metric.endswith("_bytes") else 1.0


def candidate(column: Column) -> names.UnnamedColumn:
    """A column as the naming of a run's columns needs it."""
    values = column.values
    rising = False
    if not column.canonical and values.size > 2 and names.understand(column.name).metric == "step_s":
        rising = bool((values[1:] >= values[:-1]).all() and values[-1] > 2 * values[0])
    derived = column.derived is not None
    return names.UnnamedColumn(column.name, column.split, int(values.size), derived, rising, column.canonical)


def in_order(
    steps: FloatArray, values: FloatArray, times: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Steps made non-decreasing, rows without a step dropped, exact repeats of a point dropped."""
    keep = np.isfinite(steps)
    if not keep.all():
        steps, values = steps[keep], values[keep]
        times = times[keep] if times is not None else None
    if steps.size > 1:
        if (steps[1:] < steps[:-1]).any():
            order = np.argsort(steps, kind="stable")
            steps, values = steps[order], values[order]
            times = times[order] if times is not None else None
        is_repeated = (np.diff(steps) == 0) & (
            (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
        )
        if is_repeated.any():
            keep = np.concatenate(([True], ~is_repeated))
            steps, values = steps[keep], values[keep]
            times = times[keep] if times is not None else None
    return steps, values, times


def flatten(config: Mapping[str, object], depth: int = 4) -> dict[str, Scalar]:
    """Nested settings as one level of dotted keys; long lists and odd objects become text."""
    flat: dict[str, Scalar] = {}

    def walk(prefix: str, value: object, depth_left: int) -> None:
        if isinstance(value, Mapping) and depth_left:
            for key, inner in list(value.items())[:2000]:
                walk(f"{prefix}.{key}" if prefix else str(key), inner, depth_left - 1)
        elif isinstance(value, int) and abs(value) > _LARGEST:
            flat[prefix] = float("inf") if value > 0 else float("-inf")
        elif value is None or isinstance(value, str | int | float | bool):
            flat[prefix] = value if not isinstance(value, str) else value[:500]
        elif isinstance(value, list | tuple) and len(value) == 1 and depth_left:
            walk(prefix, value[0], depth_left - 1)
        else:
            flat[prefix] = _as_text(value)

    walk("", config, depth)
    return flat


def _as_text(value: object) -> str:
    try:
        return str(value)[:200]
    except (ValueError, RecursionError):  # an integer too long to be written, or lists in lists in lists
        return "..."
