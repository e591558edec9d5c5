"""From what a reader saw to a Run: names, splits, restarts, settings, traits.

Readers hand over a `Log`: columns named as their writer named them. Everything that is the same
for all formats happens here, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from traindx import names
from traindx.core import Axis, Event, Note, Run, Scalar, Series

if TYPE_CHECKING:
    from traindx.core import FloatArray


@dataclass
class Column:
    """One metric as logged. Only points that were logged: a literal NaN is one, a gap is not.

    `split` is what the place says when the name does not (a folder `validation/`, a section);
    `axis` is set where the column counts otherwise than its log.
    """

    name: str
    steps: FloatArray
    values: FloatArray
    times: FloatArray | None = None
    split: str | None = None
    derived: str | None = None
    axis: Axis | None = None


@dataclass
class Log:
    """One run as its writer laid it out."""

    columns: list[Column]
    axis: Axis = "step"
    config: dict[str, object] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    name: str = ""


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
    columns += _detection_totals(columns)
    chosen = names.assign([_candidate(column) for column in columns], overrides=mapping or {})
    series: dict[str, Series] = {}
    for column, named in sorted(zip(columns, chosen, strict=True), key=lambda pair: pair[1].order):
        steps, values, times = in_order(column.steps, column.values, column.times)
        series[named.name] = Series(
            named.name,
            steps,
            values,
            column.name,
            named.goal,
            named.floor,
            times,
            column.derived,
            column.axis or log.axis,
        )
    config = flatten(log.config)
    events = list(log.events)
    events += _nan_filter(series)
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
    )


_DETECTION_TERMS = frozenset({"box", "cls", "dfl", "obj", "seg", "pose", "kobj", "angle"})


def _detection_totals(columns: Sequence[Column]) -> list[Column]:
    """The training objective of a YOLO, which logs only its (already weighted) terms: their sum."""
    totals = []
    for front, total in (("train/", "loss"), ("val/", "val/loss")):
        terms = [
            column
            for column in columns
            if column.name.startswith(front)
            and column.name.removeprefix(front).removesuffix("_loss") in _DETECTION_TERMS
        ]
        kinds = {column.name.removeprefix(front).removesuffix("_loss") for column in terms}
        if not {"box", "cls"} <= kinds:
            continue
        if any(column.name in (total, f"{front}loss") for column in columns):
            continue
        steps = terms[0].steps
        for column in terms[1:]:
            steps = steps[np.isin(steps, column.steps)]
        parts = [column.values[np.isin(column.steps, steps)] for column in terms]
        if steps.size and all(part.size == steps.size for part in parts):
            made = " + ".join(column.name for column in terms)
            totals.append(Column(total, steps, np.sum(parts, axis=0), derived=made))
    return totals


def _candidate(column: Column) -> names.Candidate:
    values = column.values
    rising = False
    if values.size > 2 and names.understand(column.name).metric == "step_s":
        rising = bool((values[1:] >= values[:-1]).all() and values[-1] > 2 * values[0])
    return names.Candidate(column.name, column.split, int(values.size), column.derived is not None, rising)


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
        same = (np.diff(steps) == 0) & (
            (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
        )
        if same.any():
            keep = np.concatenate(([True], ~same))
            steps, values = steps[keep], values[keep]
            times = times[keep] if times is not None else None
    return steps, values, times


def _nan_filter(series: Mapping[str, Series]) -> list[Event]:
    """Loss exactly 0 where the gradient norm is not finite: a NaN that the Trainer hid."""
    loss, norm = series.get("loss"), series.get("grad_norm")
    if loss is None or norm is None or not len(loss) or not len(norm):
        return []
    zero, broken = loss.steps[loss.values == 0.0], norm.steps[~np.isfinite(norm.values)]
    hidden = zero[np.isin(zero, broken)] if zero.size and broken.size else zero[:0]
    if not hidden.size:
        return []
    return [
        Event(
            "nan_filter",
            f"{hidden.size} logged losses are exactly 0.0 where grad_norm is not finite: "
            "the logger replaced NaN losses by 0",
            float(hidden[0]),
        )
    ]


def flatten(config: Mapping[str, object], depth: int = 4) -> dict[str, Scalar]:
    """Nested settings as one level of dotted keys; long lists and odd objects become text."""
    flat: dict[str, Scalar] = {}

    def walk(prefix: str, value: object, left: int) -> None:
        if isinstance(value, Mapping) and left:
            for key, inner in list(value.items())[:2000]:
                walk(f"{prefix}.{key}" if prefix else str(key), inner, left - 1)
        elif value is None or isinstance(value, str | int | float | bool):
            flat[prefix] = value if not isinstance(value, str) else value[:500]
        elif isinstance(value, list | tuple) and len(value) == 1:
            walk(prefix, value[0], left)
        else:
            flat[prefix] = str(value)[:200]

    walk("", config, depth)
    return flat
