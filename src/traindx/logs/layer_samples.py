"""Samples of a model's layers: lists with a number per layer become a series per layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from traindx.core.nouns import BoolArray, FloatArray
from traindx.logs.jsons import MAX_COLUMNS, flatten_row
from traindx.logs.layouts import numbered_repeats
from traindx.logs.log import Column
from traindx.logs.tables import as_number

_NAME_LONGEST = 400
Piece = tuple[FloatArray, FloatArray, FloatArray]


@dataclass
class _Stretch:
    """Samples of one statistic under one set of names."""

    names: tuple[str, ...] | None
    steps: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    rows: list[list[object]] = field(default_factory=list)


class LayerSamples:
    """The samples of one process, gathered by group and statistic."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, ...]] = {}
        self._stretches: dict[tuple[str, str], list[_Stretch]] = {}
        self._step = 0.0

    def rename(self, groups: Mapping[str, object]) -> None:
        """The names that later lists of these groups count by."""
        for group, names in groups.items():
            if isinstance(names, list):
                self._names[group] = numbered_repeats([str(name)[:_NAME_LONGEST] for name in names])

    def names(self) -> dict[str, list[str]]:
        """The latest names of each group, in the order in which they were given."""
        return {group: list(names) for group, names in self._names.items()}

    def add(self, step: float | None, t: float | None, groups: Mapping[str, object]) -> dict[str, object]:
        """Add one sample; returns its single numbers under their full names."""
        self._step = step if step is not None else self._step
        single: dict[str, object] = {}
        for group, statistics in groups.items():
            if not isinstance(statistics, Mapping):
                single[group] = statistics if not isinstance(statistics, list) else None
                continue
            for name, value in flatten_row(statistics):
                if isinstance(value, list):
                    self._list(group, name, value, t)
                else:
                    single[f"{group}/{name}"] = value
        return single

    def _list(self, group: str, statistic: str, values: list[object], t: float | None) -> None:
        stretches = self._stretches.setdefault((group, statistic), [])
        names = self._names.get(group)
        if not stretches or stretches[-1].names is not names:
            stretches.append(_Stretch(names))
        stretches[-1].steps.append(self._step)
        stretches[-1].times.append(np.nan if t is None else t)
        stretches[-1].rows.append(values)

    def columns(self, started: float) -> list[Column]:
        """One column per layer and statistic, `grad_norm/conv1`; `layer/grad_norm/0` without names."""
        pieces: dict[str, list[Piece]] = {}
        for (group, statistic), stretches in self._stretches.items():
            for stretch in stretches:
                for name, piece in _pieces(group, statistic, stretch, started):
                    if name in pieces or len(pieces) < MAX_COLUMNS:
                        pieces.setdefault(name, []).append(piece)
        columns = []
        for name, parts in pieces.items():
            steps, times, values = (
                parts[0] if len(parts) == 1 else (np.concatenate(x) for x in zip(*parts, strict=True))
            )
            columns.append(Column(name, steps, values, times, canonical=name))
        return columns


def _pieces(group: str, statistic: str, stretch: _Stretch, started: float) -> Iterator[tuple[str, Piece]]:
    steps, times = np.array(stretch.steps), np.array(stretch.times) + started
    widest = max(map(len, stretch.rows))
    if stretch.names is None:
        names = tuple(f"{group}/{statistic}/{at}" for at in range(min(widest, MAX_COLUMNS)))
    else:
        names = tuple(f"{statistic}/{name}" for name in stretch.names[:widest])
    values, present = _matrix(stretch.rows, len(names))
    for name, line, there in zip(names, values, present, strict=True):
        if there.all():
            yield name, (steps, times, line)
        elif there.any():
            yield name, (steps[there], times[there], line[there])


def _matrix(rows: list[list[object]], width: int) -> tuple[FloatArray, BoolArray]:
    """Values by layer and sample, and which of them were written."""
    if all(len(row) == width and None not in row for row in rows):
        try:
            values = np.ascontiguousarray(np.array(rows, dtype=float).T)
            if values.shape == (width, len(rows)):
                return values, np.broadcast_to(True, values.shape)
        except (ValueError, TypeError, OverflowError):
            pass
    values = np.full((width, len(rows)), np.nan)
    present = np.zeros(values.shape, dtype=bool)
    for at, row in enumerate(rows):
        for layer, cell in enumerate(row[:width]):
            number = as_number(cell)
            if number is not None:
                values[layer, at] = number
                present[layer, at] = True
    return values, present
