"""What was sampled of the layers as a table: a row for each layer, input first, a column for each sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.case import Case
from traindx.report.curves import drawable, evenly
from traindx.report.marks import placed
from traindx.report.text import count, visible

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray, IntArray

COLUMNS_MOST = 120
_NAME_LONGEST = 34
SHARES = {
    "activation_zero_share": "share of zeros",
    "activation_dead_share": "share of dead units: zero for every input over the last samples",
    "activation_saturated_share": "share of saturated values",
}


@dataclass(frozen=True, eq=False)
class Grid:
    """`values` is NaN where a layer was not sampled, or where it was `broken`: NaN or Inf."""

    statistic: str
    layers: tuple[str, ...]
    steps: FloatArray
    values: FloatArray
    broken: BoolArray

    @property
    def seen(self) -> FloatArray:
        """All values that can be drawn."""
        return self.values[np.isfinite(self.values)]

    def ever_broken(self) -> BoolArray:
        """Which layers were NaN or Inf in any sample."""
        return np.array([row.any() for row in self.broken], dtype=bool)

    def ever_zero(self) -> BoolArray:
        return np.array([(row == 0).any() for row in self.values], dtype=bool)

    def always_zero(self) -> BoolArray:
        """Which layers were exactly zero in every sample in which they were finite, and in two or more."""
        finite = [row[np.isfinite(row)] for row in self.values]
        return np.array([row.size > 1 and not row.any() for row in finite], dtype=bool)

    def first(self) -> FloatArray:
        """Each layer's first value; NaN when it was broken then."""
        return self._at(0)

    def last(self) -> FloatArray:
        return self._at(-1)

    def level(self, share: float) -> FloatArray:
        """A quantile of each layer over the samples; NaN for a layer without a finite value."""
        levels = np.full(len(self.layers), np.nan)
        for number, row in enumerate(self.values):
            finite = row[np.isfinite(row)]
            if finite.size:
                levels[number] = float(np.quantile(finite, share))
        return levels

    def _at(self, place: int) -> FloatArray:
        sampled = np.isfinite(self.values) | self.broken
        values = np.full(len(self.layers), np.nan)
        for number, row in enumerate(sampled):
            where = np.flatnonzero(row)
            if where.size:
                values[number] = self.values[number, where[place]]
        return values


def grid(
    case: Case, statistic: str, columns: int = COLUMNS_MOST, rows: int | None = None, *, share: bool = False
) -> Grid | None:
    """The table of a statistic with at most so many columns and rows; None when it was not sampled.

    A `share` of the units of an activation says nothing where its values were not finite.
    """
    curves = case.inside.layers(statistic)
    if not curves:
        return None
    chosen = list(curves)
    if rows is not None and len(chosen) > rows:
        chosen = [chosen[at] for at in evenly(len(chosen), rows)]
    steps_by_layer = [placed(case, curves[name].series, curves[name].series.steps) for name in chosen]
    steps = np.unique(np.concatenate(steps_by_layer))
    values = np.full((len(chosen), steps.size), np.nan)
    broken = np.zeros(values.shape, dtype=bool)
    for number, (name, layer_steps) in enumerate(zip(chosen, steps_by_layer, strict=True)):
        own_values = curves[name].series.values
        at = np.searchsorted(steps, layer_steps)
        values[number, at] = drawable(own_values)
        broken[number, at] = ~np.isfinite(own_values)
        if share and (spread := case.inside.layers("activation_std").get(name)) is not None:
            broken_at = spread.series.steps[~np.isfinite(spread.series.values)]
            broken[number] |= np.isin(steps, broken_at)
    values[broken] = np.nan
    if steps.size > columns:
        steps, values, broken = _merged(steps, values, broken, columns)
    return Grid(statistic, tuple(chosen), steps, values, broken)


def _merged(
    steps: FloatArray, values: FloatArray, broken: BoolArray, columns: int
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Neighbouring samples merged; a layer that was broken in any of them is broken."""
    edges = np.linspace(0, steps.size, columns + 1).astype(int)
    merged = np.full((values.shape[0], columns), np.nan)
    merged_broken = np.zeros(merged.shape, dtype=bool)
    for number, (begin, end) in enumerate(pairwise(edges.tolist())):
        merged_broken[:, number] = broken[:, begin:end].any(axis=1)
        there = np.isfinite(values[:, begin:end]).any(axis=1) & ~merged_broken[:, number]
        merged[there, number] = np.nanmedian(values[there, begin:end], axis=1)
    return steps[edges[:-1]], merged, merged_broken


def share_grids(case: Case, columns: int = 120, rows: int | None = None) -> list[tuple[str, Grid]]:
    """Those shares that were measured, and their titles."""
    grids = ((title, grid(case, name, columns, rows, share=True)) for name, title in SHARES.items())
    return [(title, shares) for title, shares in grids if shares is not None]


def layer_names(layers: Sequence[str], longest: int = _NAME_LONGEST) -> list[str]:
    """Names that are safe to show; of long ones the end, which distinguishes layers."""
    texts = [visible(name, 200) or "(no name)" for name in layers]
    return [name if len(name) <= longest else "…" + name[1 - longest :] for name in texts]


def matrix_levels(case: Case, values: Grid) -> tuple[IntArray, FloatArray]:
    """The layers with a matrix whose median over the samples is positive, and these medians."""
    levels = values.level(0.5)
    places = np.flatnonzero(matrices(case, values.layers) & (levels > 0))
    return places, levels[places]


def defects(values: Grid, names: Sequence[str], zero: str) -> list[str]:
    """How many layers were exactly `zero` or not finite, and the first of them."""
    places = {zero: values.always_zero(), "NaN or Inf": values.ever_broken()}
    return [
        f"{text} in {count(int(where.sum()), 'layer')}, first {names[int(where.argmax())]}"
        for text, where in places.items()
        if where.any()
    ]


def most_at_the_end(case: Case, statistic: str) -> tuple[str, float, Grid] | None:
    """The layer with the largest share of its units at the last sample, and that share."""
    shares = grid(case, statistic, share=True)
    last = shares.last() if shares is not None else np.empty(0)
    if shares is None or not np.isfinite(last).any():
        return None
    worst = int(np.nanargmax(last))
    return layer_names(shares.layers)[worst], float(last[worst]), shares


def labelled_places(count: int, most: int) -> IntArray:
    """Which of so many rows get a label: evenly spaced, the first and the last among them."""
    if count <= most:
        return np.arange(count)
    stride = -(-(count - 1) // max(most - 1, 1))
    places = np.arange(0, count, stride)
    if places[-1] != count - 1:
        keep = places if count - 1 - places[-1] > stride // 2 else places[:-1]
        places = np.append(keep, count - 1)
    return places


def matrices(case: Case, layers: Sequence[str]) -> BoolArray:
    """Which layers have a matrix or a larger tensor: gradients of biases and scales have another scale."""
    shapes = {str(layer.get("name", "")): layer.get("shape") for layer in case.inside.layer_list}
    layer_shapes = [shapes.get(name) for name in layers]
    return np.array([not isinstance(shape, list) or len(shape) > 1 for shape in layer_shapes], dtype=bool)
