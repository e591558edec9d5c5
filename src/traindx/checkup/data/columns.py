"""What the columns of a part hold: missing values, sentinels, copies, outliers, changes of unit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from traindx.checkup.data.conversions import conversion_of
from traindx.checkup.data.group_changes import group_changes
from traindx.checkup.data.part import DataPart, moments
from traindx.core.nouns import BoolArray, FloatArray, IntArray

_SENTINELS = (-99.0, -999.0, -9999.0, -99999.0, -999999.0, 999.0, 9999.0, 99999.0, 999999.0, -888.0, -777.0)
_MACHINE = (-32768.0, 65535.0, -2147483648.0, 2147483647.0)
_HUGE = 1e15
_MOST = 400
_MOST_MEASURED = 512
_STUCK_ROWS, _FEW_WRONG = 30, 20
_GROUPS = 50  # in a column that names them


def column_facts(part: DataPart) -> list[dict[str, Any]]:
    """One fact for each column of numbers that shows something worth a finding, and a few words of the
    rest.
    """
    facts = []
    for name in part.names[:_MOST_MEASURED]:
        values = part.column(name)
        assert values is not None
        fact: dict[str, Any] = {"table": part.name, "column": name}
        fact |= _missing(part, name, values)
        present = values[np.isfinite(values)]
        if len(present) >= 20 and (name == part.target or not part.is_key(name)):
            fact |= _constant(present) or {
                **_sentinel(part, values),
                **_outliers(part, values),
                **_stuck(part, values),
            }
        if len(fact) > 2:
            facts.append(fact)
    return facts[:_MOST]


def _missing(part: DataPart, name: str, values: FloatArray) -> dict[str, Any]:
    bad = np.flatnonzero(~np.isfinite(values))
    odd = part.odd_cells.get(name)
    facts: dict[str, Any] = {"odd_cells": odd[0], "odd_cell": odd[1][:40]} if odd else {}
    if len(bad) and len(bad) < len(values):
        facts |= {"missing": len(bad), "of": len(values), "first_row": int(part.rows[bad[0]])}
        block = max(np.split(bad, np.flatnonzero(np.diff(bad) > 1) + 1), key=len)
        if len(block) >= max(20, 0.5 * len(bad)) and len(block) < 0.9 * len(values):
            facts["missing_block"] = [int(part.rows[block[0]]), int(part.rows[block[-1]])]
    return facts


def _constant(values: FloatArray) -> dict[str, Any]:
    return {"constant": float(values[0])} if float(np.ptp(values)) == 0 else {}


def _sentinel(part: DataPart, values: FloatArray) -> dict[str, Any]:
    """A value that is repeated far outside of all others, and is one that people write for "unknown"."""
    for value in {float(np.nanmin(values)), float(np.nanmax(values))}:
        if not (value in _SENTINELS or value in _MACHINE or abs(value) >= _HUGE):
            continue
        at = np.flatnonzero(values == value)
        other_values = values[np.isfinite(values) & (values != value)]
        if len(at) < 3 or len(other_values) < 20 or len(at) > 0.6 * len(values):
            continue
        low, high = np.quantile(other_values, (0.005, 0.995))
        gap = float(np.abs(other_values - value).min())
        if gap > 2 * (high - low) and gap > 0.5 * abs(value):
            return {
                "sentinel": value,
                "sentinels": len(at),
                "rows": len(values),
                "first_row": int(part.rows[at[0]]),
                "low": float(other_values.min()),
                "high": float(other_values.max()),
            }
    return {}


def _outliers(part: DataPart, values: FloatArray) -> dict[str, Any]:
    """A few values far beyond the rest, on the scale of the values and on that of their logarithms."""
    present = np.isfinite(values)
    far = np.zeros(len(values), bool)
    logs = np.sign(values) * np.log1p(np.abs(values))
    beyond = []
    for scale, limit in ((values, 50.0), (logs, 8.0)):
        low, middle, high = np.quantile(scale[present], (0.1, 0.5, 0.9))
        width = high - low
        if width <= 0:
            return {}
        beyond.append(np.abs(scale - middle) > limit * width / 2)
    far = np.flatnonzero(beyond[0] & beyond[1] & present)
    if not 0 < len(far) <= max(1, 0.01 * len(values)):
        return {}
    worst = far[np.argmax(np.abs(values[far]))]
    return {
        "outliers": len(far),
        "outlier": float(values[worst]),
        "outlier_row": int(part.rows[worst]),
        "usual_low": float(np.quantile(values[present], 0.005)),
        "usual_high": float(np.quantile(values[present], 0.995)),
    }


def _stuck(part: DataPart, values: FloatArray) -> dict[str, Any]:
    """A stretch of rows in which a column that else changes from row to row holds one value."""
    if part.array or len(values) < 200 or len(np.unique(values)) < 0.2 * len(values):
        return {}
    cuts = np.flatnonzero(np.diff(values) != 0) + 1
    starts, ends = np.concatenate([[0], cuts]), np.concatenate([cuts, [len(values)]])
    lengths = ends - starts
    longest = int(lengths.argmax())
    other_lengths = np.delete(lengths, longest)
    usual_repeat = int(np.quantile(other_lengths, 0.999)) if other_lengths.size else 0
    if lengths[longest] < max(_STUCK_ROWS, 10 * usual_repeat) or lengths[longest] > 0.9 * len(values):
        return {}
    first, last = int(starts[longest]), int(ends[longest]) - 1
    return {
        "stuck": float(values[first]),
        "stuck_rows": int(lengths[longest]),
        "first_row": int(part.rows[first]),
        "last_row": int(part.rows[last]),
        "usual_repeat": max(1, usual_repeat),
    }


def out_of_order(part: DataPart) -> list[dict[str, Any]]:
    """A stretch of rows that is not in the order of a column of times that all other rows keep."""
    facts = []
    for name in () if part.array or len(part) != part.total else (*part.words, *part.names):
        times = moments(part, name)
        if times is None or len(times) < 200:
            continue
        latest_before = np.concatenate([[-np.inf], np.maximum.accumulate(times)[:-1]])
        earliest_after = np.concatenate([np.minimum.accumulate(times[::-1])[::-1][1:], [np.inf]])
        out_of_place = np.flatnonzero((times < latest_before) | (times > earliest_after))
        if not _FEW_WRONG <= len(out_of_place) <= 0.3 * len(times):
            continue
        steps = np.diff(np.sort(times))
        usual_step = float(np.median(steps))
        even = usual_step > 0 and float((np.abs(steps - usual_step) <= 0.01 * usual_step).mean()) >= 0.95
        within = len(out_of_place) / (out_of_place[-1] - out_of_place[0] + 1)
        if even and within >= 0.5:
            place = {
                "first_row": int(part.rows[out_of_place[0]]),
                "last_row": int(part.rows[out_of_place[-1]]),
            }
            facts.append({"table": part.name, "column": name, "unordered": len(out_of_place), **place})
    return facts


def copied_columns(part: DataPart) -> Iterator[dict[str, Any]]:
    """Columns that hold exactly the same numbers."""
    if part.array:
        return
    names_by_content: dict[bytes, str] = {}
    for name in part.inputs:
        values = part.numbers[:, part.names.index(name)]
        if len(np.unique(values)) > 10:
            earlier = names_by_content.setdefault(np.nan_to_num(values, nan=-1.5e308).tobytes(), name)
            if earlier != name:
                yield {"table": part.name, "column": name, "copy_of": earlier}


def unit_changes(part: DataPart) -> list[dict[str, Any]]:
    """Columns whose scale changes at one row of the file, or within a stretch of rows, all at once, while
    most others stay; of all groups or of a few of them.
    """
    if len(part) < 200 or (part.array and len(part.names) > 100):
        return []
    names = [name for name in part.inputs if _many_values(part, name)]
    changes = [change for name in names if (change := _change(part, name)) is not None]
    limit = max(1, len(names) // 3)
    clear = changes if len(changes) <= limit and len(names) > 1 else []
    return clear or ([] if changes else group_changes(part, names))


def _many_values(part: DataPart, name: str) -> bool:
    values = part.column(name)
    return values is not None and len(np.unique(values[np.isfinite(values)])) > 20


def _change(part: DataPart, name: str) -> dict[str, Any] | None:
    values = part.column(name)
    assert values is not None
    rows = np.flatnonzero(np.isfinite(values))
    series = values[rows]
    if len(series) < 200:
        return None
    blocks = max(12, min(40, len(series) // 50))
    edges = np.linspace(0, len(series), blocks + 1).astype(int)
    quarters = np.array([np.quantile(series[a:b], (0.25, 0.5, 0.75)) for a, b in pairwise(edges)])
    middles, widths = quarters[:, 1], quarters[:, 2] - quarters[:, 0]
    for stretches in (_to_the_end(blocks), _within(blocks)):
        first, last = max(stretches, key=lambda stretch: _jump(middles, _marked(blocks, *stretch)))
        inside = _marked(blocks, first, last)
        apart = _apart(middles, widths, inside)
        if apart is not None:
            break
    else:
        return None
    before, after = (float(np.median(middles[side])) for side in (~inside, inside))
    of_the_stretch = np.abs(series - after) < np.abs(series - before)
    reach = len(series) // blocks
    row = int(part.rows[rows[_sharpened(of_the_stretch, edges[first], reach)]])
    fact = {"table": part.name, "column": name, "row": row, "before": before, "after": after, **apart}
    fact["conversion"] = conversion_of([(before, after, apart["ratio"])])
    fact["group_column"] = _group_of(part, rows[edges[first] : edges[last]], name)
    if last < blocks:
        fact["last_row"] = int(part.rows[rows[_sharpened(~of_the_stretch, edges[last], reach) - 1]])
    return fact


def _group_of(part: DataPart, stretch: IntArray, name: str) -> str:
    """A column that names groups of rows, some of which the stretch holds nearly alone; empty without one."""
    inside = np.zeros(len(part), bool)
    inside[stretch] = True
    for by, codes in part.groups_of(_GROUPS).items():
        counts, all_rows = np.bincount(codes[inside], minlength=codes.max() + 1), np.bincount(codes)
        own = counts > 0.9 * all_rows
        if by != name and counts[own].sum() > 0.9 * len(stretch) and not own.all():
            return by
    return ""


def _to_the_end(blocks: int) -> list[tuple[int, int]]:
    """The stretches of blocks from some place on."""
    return [(first, blocks) for first in range(3, blocks - 2)]


def _within(blocks: int) -> list[tuple[int, int]]:
    """The stretches of a few blocks that leave most of them outside, on both sides."""
    return [
        (first, last)
        for first in range(1, blocks - 2)
        for last in range(first + 2, min(blocks, first + blocks // 2 + 1))
    ]


def _marked(blocks: int, first: int, last: int) -> BoolArray:
    marks = np.zeros(blocks, bool)
    marks[first:last] = True
    return marks


def _off_the_edges(inside: BoolArray) -> BoolArray:
    """The blocks that are not next to the edge of a stretch, as long as they leave some on both sides."""
    changed = np.flatnonzero(np.diff(inside.astype(np.int8)))
    edge = np.zeros(len(inside), bool)
    edge[changed], edge[changed + 1] = True, True
    enough = min(int((inside & ~edge).sum()), int((~inside & ~edge).sum())) >= 2
    return ~edge if enough else np.ones(len(inside), bool)


def _jump(values: FloatArray, inside: BoolArray) -> float:
    """How far apart the means inside and outside of a stretch are, in standard errors."""
    sides = values[~inside], values[inside]
    spread = np.sqrt(sum(float(side.var()) / len(side) for side in sides)) + 1e-12 * (
        1 + np.abs(values).max()
    )
    return float(abs(sides[0].mean() - sides[1].mean()) / spread)


def _sharpened(is_after: BoolArray, edge: int, reach: int) -> int:
    """The row near the edge of a block from which on most values are those of the stretch after it."""
    start, stop = max(0, edge - reach), min(len(is_after), edge + reach)
    score = np.cumsum(np.where(is_after[start:stop], -1, 1))
    return start + int(score.argmax()) + 1 if len(score) else edge


def _apart(middles: FloatArray, widths: FloatArray, inside: BoolArray) -> dict[str, float] | None:
    """How the blocks of a stretch differ from the others: both steady, and a jump between them."""
    if min(widths) <= 0:
        return None
    logs = np.log(widths)
    ratio = float(np.exp(np.median(logs[inside]) - np.median(logs[~inside])))
    away = abs(float(np.median(middles[inside]) - np.median(middles[~inside])))
    shift = away / float(np.median(widths))
    unsteady = max(float(middles[~inside].std()), float(middles[inside].std()))
    sharp = away > 6 * unsteady and shift >= 1
    scaled = max(ratio, 1 / ratio) >= 1.4 and _jump(logs, inside) >= (4 if sharp else 8)
    if not (scaled and shift >= 0.3) and shift < 6:
        return None
    # Where a side wanders, the change is the data's own course; blocks at the edges hold some of both.
    inner = _off_the_edges(inside)
    wander = max(float(logs[~inside & inner].std()), float(logs[inside & inner].std()))
    if unsteady > away / 3 or wander > 0.5:
        return None
    return {"ratio": ratio, "shift": shift, "steady": away / max(unsteady, 1e-300)}
