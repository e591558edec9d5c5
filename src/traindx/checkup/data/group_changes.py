"""Columns that go over to another unit within a few groups of rows (stations, sites, devices).

The rows are cut into blocks along the file, or along a column of time. Each group's medians of the blocks are
compared with those of the other groups, so that levels of groups and common trends count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from traindx.checkup.data.conversions import conversion_of
from traindx.checkup.data.part import DataPart, moments
from traindx.core.nouns import FloatArray, IntArray

_GROUPS_MOST, _GROUP_COLUMNS_MOST, _COLUMNS_MOST = 200, 8, 64
_ROWS_LEAST = 60  # of a group
_TIMES_LEAST = 100  # distinct values of a column that rows are ordered by
_CELL_LEAST = 3
_STEADY = 4.0  # a jump against what else the medians of blocks do
_LEAST, _LEAST_CONVERTED = 1.2, 0.7  # a jump against the range of values in other groups
_EDGE = 2  # blocks on either side of a change


@dataclass(frozen=True)
class _Blocks:
    """Rows in an order, cut into blocks; `groups` are those that have enough rows in nearly all of them."""

    order: str  # the column they are ordered by, empty for the file's own order
    ranks: IntArray
    codes: IntArray
    count: int
    groups: IntArray

    def quantiles(self, values: FloatArray) -> FloatArray:
        """[group, block, low / middle / high] of a column; NaN in cells with too few rows."""
        row_of = np.full(int(self.codes.max()) + 1, -1)
        row_of[self.groups] = np.arange(len(self.groups))
        at = np.flatnonzero((row_of[self.codes] >= 0) & np.isfinite(values))
        block = self.ranks[at] * self.count // len(self.ranks)
        cells = row_of[self.codes[at]] * self.count + block
        ordered = values[at][np.lexsort((values[at], cells))]
        sizes = np.bincount(cells, minlength=len(self.groups) * self.count)
        starts = np.cumsum(sizes) - sizes
        cell_quantiles = np.full((len(sizes), 3), np.nan)
        full = np.flatnonzero(sizes >= _CELL_LEAST)
        for column, share in enumerate((0.25, 0.5, 0.75)):
            cell_quantiles[full, column] = ordered[
                starts[full] + np.round(share * (sizes[full] - 1)).astype(int)
            ]
        return cell_quantiles.reshape(len(self.groups), self.count, 3)


@dataclass(frozen=True)
class _Step:
    """A step in the medians of a group's blocks: the first block after it, how far, in how calm a course."""

    cut: int
    jump: float
    steady: float


@dataclass(frozen=True)
class _Begun:
    """The rows of a group from a step on, its medians on both sides, what the other groups' course would have
    made of the first, and how many times as wide its values are.
    """

    rows: IntArray
    before: float
    after: float
    expected: float
    ratio: float


def group_changes(part: DataPart, names: list[str]) -> list[dict[str, Any]]:
    """One fact for each of the columns that changes within a few groups, all at once and to stay."""
    facts: dict[str, dict[str, Any]] = {}
    if part.array or len(part) < 2 * _ROWS_LEAST:
        return []
    names = names[:_COLUMNS_MOST]
    grouped = part.groups_of(_GROUPS_MOST)
    for by, codes in list(grouped.items())[:_GROUP_COLUMNS_MOST]:
        for blocks in _orders(part, codes):
            for name in names:
                change = _change(part, name, blocks) if name not in (by, *facts) else None
                other_codes = [
                    column_codes for column, column_codes in grouped.items() if column not in (by, name)
                ]
                if change is None or _is_explained(change.pop("changed"), other_codes):
                    continue
                labels = [part.shown(by, int((codes == group).argmax())) for group in change["groups"]]
                place = {"table": part.name, "column": name, "group_column": by}
                facts[name] = {**change, **place, "groups": labels}
    return list(facts.values()) if len(facts) <= max(1, len(names) // 3) else []


def _orders(part: DataPart, codes: IntArray) -> Iterator[_Blocks]:
    """The rows as the file has them, and along each column of time."""
    counts = np.bincount(codes)
    large = np.flatnonzero(counts >= _ROWS_LEAST)
    if len(large) < 2:
        return
    count = int(np.clip(np.quantile(counts[large], 0.1) // 12, 8, 24))
    for name in ("", *_times(part)):
        values = np.arange(len(part)) if not name else _time_values(part, name)
        ranks = np.empty(len(part), dtype=np.int64)
        ranks[np.argsort(values, kind="stable")] = np.arange(len(part))
        cells = np.bincount(codes * count + ranks * count // len(part), minlength=len(counts) * count)
        filled = (cells.reshape(len(counts), count) >= _CELL_LEAST).mean(1)
        groups = large[filled[large] >= 0.9]
        if len(groups) >= 2:
            yield _Blocks(name, ranks, codes, count, groups)


def _times(part: DataPart) -> list[str]:
    """Columns of dates, times and counters that rows can be ordered by."""
    names = [name for name in (*part.names, *part.words) if part.is_key(name)]
    return [name for name in names if _time_values(part, name).size]


def _time_values(part: DataPart, name: str) -> FloatArray:
    values = part.column(name)
    values = moments(part, name) if values is None else values
    usable = values is not None and np.isfinite(values).all() and len(np.unique(values)) >= _TIMES_LEAST
    return values if usable and values is not None else np.empty(0)


def _change(part: DataPart, name: str, blocks: _Blocks) -> dict[str, Any] | None:
    values = part.column(name)
    assert values is not None
    cells = blocks.quantiles(values)
    usable = np.isfinite(cells[:, :, 1]).mean(1) >= 0.9
    cells, groups = cells[usable], blocks.groups[usable]
    if len(groups) < 2:
        return None
    middles = _filled(cells[:, :, 1])
    centred = middles - np.median(middles, axis=1, keepdims=True)
    steps = {
        at: step
        for at in range(len(groups))
        if (step := _step(middles[at], np.median(np.delete(centred, at, axis=0), axis=0))) is not None
    }
    if not steps or len(steps) > max(1, len(groups) // 3):
        return None
    common = np.median(np.delete(centred, list(steps), axis=0), axis=0)
    begun = {
        at: _begun(values, blocks, int(groups[at]), middles[at], step, common) for at, step in steps.items()
    }
    ends = [(change.expected, change.after, change.ratio) for change in begun.values()]
    conversion = conversion_of(ends)
    other_values = [values[blocks.codes == group] for group in np.delete(groups, list(steps))]
    usual_range = max(
        float(np.ptp(np.nanquantile(group_values, (0.05, 0.95)))) for group_values in other_values
    )
    clear = {
        at: step
        for at, step in steps.items()
        if _is_large(step, begun[at], other_values, usual_range, conversion)
    }
    if not clear:
        return None
    changes = [begun[at] for at in clear]
    first = min(changes, key=lambda change: int(blocks.ranks[change.rows[0]]))
    start = int(first.rows[0])
    order = blocks.order or next((time_name for time_name in _times(part) if _is_rising(part, time_name)), "")
    return {
        "groups": [int(groups[at]) for at in clear],
        "groups_all": len(groups),
        "row": int(part.rows[start]),
        "order": order,
        "order_value": part.shown(order, start) if order else "",
        "before": float(np.median([change.before for change in changes])),
        "after": float(np.median([change.after for change in changes])),
        "jump": float(np.median([step.jump for step in clear.values()])),
        "steady": min(step.steady for step in clear.values()),
        "usual_range": usual_range,
        "conversion": conversion,
        "changed": np.isin(np.arange(len(part)), np.concatenate([change.rows for change in changes])),
    }


def _filled(middles: FloatArray) -> FloatArray:
    """Blocks without rows take the value of the block before."""
    filled = middles.copy()
    for row in filled:
        present = np.flatnonzero(np.isfinite(row))
        row[:] = np.interp(np.arange(len(row)), present, row[present])
    return filled


def _step(middles: FloatArray, common: FloatArray) -> _Step | None:
    """The one sharp and lasting step of a group's medians that the other groups do not take."""
    difference = middles - common
    best = _Step(0, 0.0, 0.0)
    for cut in range(_EDGE, len(middles) - _EDGE + 1):
        sides = difference[:cut], difference[cut:]
        jump = float(np.median(sides[1]) - np.median(sides[0]))
        wander = float(np.sqrt(np.mean([side.var() for side in sides])))
        steady = abs(jump) / (wander + 1e-9 * abs(jump) + 1e-300)
        if steady > best.steady:
            best = _Step(cut, jump, steady)
    # The block in which the change lies is partly on either side.
    before, after = slice(max(0, best.cut - 3), best.cut), slice(best.cut, best.cut + 3)
    if best.steady < _STEADY:
        return None
    sharp = [
        np.sign(best.jump) * (np.median(curve[after]) - np.median(curve[before]))
        for curve in (difference, middles)
    ]
    return best if min(sharp) >= 0.6 * abs(best.jump) else None


def _begun(
    values: FloatArray, blocks: _Blocks, group: int, middles: FloatArray, step: _Step, common: FloatArray
) -> _Begun:
    """From which row on a group's values are others, and what they are on both sides."""
    rows = np.flatnonzero((blocks.codes == group) & np.isfinite(values))
    rows = rows[np.argsort(blocks.ranks[rows], kind="stable")]
    block = blocks.ranks[rows] * blocks.count // len(blocks.ranks)
    first = _first(values[rows], block, middles, step.cut)
    sides = rows[:first], rows[first:]
    before, after = (float(np.median(values[side])) for side in sides)
    trend = [float(np.median(common[side])) for side in (block[:first], block[first:])]
    # A block in which the change lies has the median of neither side.
    inner = np.abs(block - step.cut + 0.5) > 1
    residuals = values[rows] - middles[block]
    widths = [float(np.ptp(np.quantile(side, (0.25, 0.75)))) if len(side) else 0.0
              for side in (residuals[:first][inner[:first]], residuals[first:][inner[first:]])]  # fmt: skip
    return _Begun(sides[1], before, after, before + trend[1] - trend[0], widths[1] / max(widths[0], 1e-300))


def _is_large(
    step: _Step, begun: _Begun, other_values: Sequence[FloatArray], usual_range: float, conversion: str
) -> bool:
    """Whether a jump is large against the values of all other groups, also on the scale of their logarithms.

    It needs a calm course or a known conversion; with both, less is enough.
    """
    calm = step.steady >= 2 * _STEADY
    least = _LEAST_CONVERTED if conversion and calm else _LEAST
    if not (conversion or calm) or usual_range <= 0 or abs(step.jump) < least * usual_range:
        return False
    if min(begun.before, begun.after, *(float(np.nanmin(values)) for values in other_values)) <= 0:
        return True
    far = abs(float(np.log(begun.after / begun.before)))
    return far >= _LEAST * max(
        float(np.ptp(np.log(np.nanquantile(values, (0.25, 0.75))))) for values in other_values
    )


def _is_rising(part: DataPart, name: str) -> bool:
    return bool(np.all(np.diff(_time_values(part, name)) >= 0))


def _first(series: FloatArray, block: IntArray, middles: FloatArray, cut: int) -> int:
    """The place in a group's rows, near the edge of a block, from which on its values are the later ones."""
    nearby = np.flatnonzero((block >= cut - 1) & (block <= cut))
    level = (np.nanmedian(middles[max(0, cut - 3) : cut - 1]) + np.nanmedian(middles[cut + 1 : cut + 4])) / 2
    late = np.nanmedian(middles[cut + 1 : cut + 4]) > level
    score = np.cumsum(np.where((series[nearby] > level) == late, -1, 1))
    return int(nearby[0] + (score.argmax() + 1 if score.max() > 0 else 0))


def _is_explained(changed: npt.NDArray[np.bool_], other_codes: list[IntArray]) -> bool:
    """Whether another column says so: by values that nearly only the changed rows have, such as the unit."""
    return any(np.isin(codes[~changed], codes[changed]).mean() < 0.01 for codes in other_codes)
