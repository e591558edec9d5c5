"""What the columns of a part hold: missing values, sentinels, copies, outliers, changes of unit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from traindx.checkup.data.group_changes import group_changes
from traindx.checkup.data.part import DataPart
from traindx.core.nouns import FloatArray

_SENTINELS = (-99.0, -999.0, -9999.0, -99999.0, -999999.0, 999.0, 9999.0, 99999.0, 999999.0, -888.0, -777.0)
_MACHINE = (-32768.0, 65535.0, -2147483648.0, 2147483647.0)
_HUGE = 1e15
_MOST = 400
_MOST_MEASURED = 512


def column_facts(part: DataPart) -> list[dict[str, Any]]:
    """One fact for each column of numbers that shows something worth a finding, and a few words of the
    rest.
    """
    found = []
    for name in part.names[:_MOST_MEASURED]:
        values = part.column(name)
        assert values is not None
        fact: dict[str, Any] = {"table": part.name, "column": name}
        fact |= _missing(part, name, values)
        there = values[np.isfinite(values)]
        if len(there) >= 20 and (name == part.target or not part.is_key(name)):
            fact |= _constant(there) or {**_sentinel(part, values), **_outliers(part, values)}
        if len(fact) > 2:
            found.append(fact)
    return found[:_MOST]


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
        others = values[np.isfinite(values) & (values != value)]
        if len(at) < 3 or len(others) < 20 or len(at) > 0.6 * len(values):
            continue
        low, high = np.quantile(others, (0.005, 0.995))
        gap = float(np.abs(others - value).min())
        if gap > 2 * (high - low) and gap > 0.5 * abs(value):
            return {
                "sentinel": value,
                "sentinels": len(at),
                "rows": len(values),
                "first_row": int(part.rows[at[0]]),
                "low": float(others.min()),
                "high": float(others.max()),
            }
    return {}


def _outliers(part: DataPart, values: FloatArray) -> dict[str, Any]:
    """A few values far beyond the rest, on the scale of the values and on that of their logarithms."""
    there = np.isfinite(values)
    far = np.zeros(len(values), bool)
    logs = np.sign(values) * np.log1p(np.abs(values))
    beyond = []
    for scale, limit in ((values, 50.0), (logs, 8.0)):
        low, middle, high = np.quantile(scale[there], (0.1, 0.5, 0.9))
        width = high - low
        if width <= 0:
            return {}
        beyond.append(np.abs(scale - middle) > limit * width / 2)
    far = np.flatnonzero(beyond[0] & beyond[1] & there)
    if not 0 < len(far) <= max(1, 0.01 * len(values)):
        return {}
    worst = far[np.argmax(np.abs(values[far]))]
    return {
        "outliers": len(far),
        "outlier": float(values[worst]),
        "outlier_row": int(part.rows[worst]),
        "usual_low": float(np.quantile(values[there], 0.005)),
        "usual_high": float(np.quantile(values[there], 0.995)),
    }


def copied_columns(part: DataPart) -> Iterator[dict[str, Any]]:
    """Columns that hold exactly the same numbers."""
    if part.array:
        return
    seen: dict[bytes, str] = {}
    for name in part.inputs:
        values = part.numbers[:, part.names.index(name)]
        if len(np.unique(values)) > 10:
            earlier = seen.setdefault(np.nan_to_num(values, nan=-1.5e308).tobytes(), name)
            if earlier != name:
                yield {"table": part.name, "column": name, "copy_of": earlier}


def unit_changes(part: DataPart) -> list[dict[str, Any]]:
    """Columns whose scale changes at one row of the file, all at once, while most others stay; of all
    groups or of a few of them.
    """
    if len(part) < 200 or (part.array and len(part.names) > 100):
        return []
    names = [name for name in part.inputs if _many_values(part, name)]
    found = [change for name in names if (change := _change(part, name)) is not None]
    few = max(1, len(names) // 3)
    whole = found if len(found) <= few and len(names) > 1 else []
    return whole or ([] if found else group_changes(part, names))


def _many_values(part: DataPart, name: str) -> bool:
    values = part.column(name)
    return values is not None and len(np.unique(values[np.isfinite(values)])) > 20


def _change(part: DataPart, name: str) -> dict[str, Any] | None:
    values = part.column(name)
    assert values is not None
    here = np.flatnonzero(np.isfinite(values))
    series = values[here]
    if len(series) < 200:
        return None
    blocks = max(12, min(40, len(series) // 50))
    edges = np.linspace(0, len(series), blocks + 1).astype(int)
    quarters = np.array([np.quantile(series[a:b], (0.25, 0.5, 0.75)) for a, b in pairwise(edges)])
    middles, widths = quarters[:, 1], quarters[:, 2] - quarters[:, 0]
    cut = max(range(3, blocks - 2), key=lambda at: _jump(middles, at))
    apart = _apart(middles, widths, cut)
    if apart is None:
        return None
    sides = [float(np.median(side)) for side in (middles[:cut], middles[cut:])]
    row = int(part.rows[here[_sharpened(series, edges[cut], len(series) // blocks)]])
    fact = {"table": part.name, "column": name, "row": row, "before": sides[0], "after": sides[1]}
    return {**fact, **apart}


def _jump(values: FloatArray, cut: int) -> float:
    """How far apart the means of both sides are, in standard errors."""
    sides = values[:cut], values[cut:]
    spread = np.sqrt(sum(float(side.var()) / len(side) for side in sides)) + 1e-12 * (
        1 + np.abs(values).max()
    )
    return float(abs(sides[0].mean() - sides[1].mean()) / spread)


def _sharpened(series: FloatArray, edge: int, reach: int) -> int:
    """The row near the edge of a block at which the values change."""
    start, stop = max(0, edge - reach), min(len(series), edge + reach)
    near = series[start:stop]
    middle = (float(np.median(series[:start])) + float(np.median(series[stop:]))) / 2
    above = near > middle if np.median(series[stop:]) > middle else near < middle
    score = np.cumsum(np.where(above, -1, 1))
    return start + int(score.argmax()) + 1 if len(score) else edge


def _apart(middles: FloatArray, widths: FloatArray, cut: int) -> dict[str, float] | None:
    """How the blocks before a row differ from those after: both sides steady, and a jump between them."""
    if min(widths) <= 0:
        return None
    logs = np.log(widths)
    ratio = float(np.exp(np.median(logs[cut:]) - np.median(logs[:cut])))
    away = abs(float(np.median(middles[cut:]) - np.median(middles[:cut])))
    shift = away / float(np.median(widths))
    unsteady = max(float(middles[:cut].std()), float(middles[cut:].std()))
    sharp = away > 6 * unsteady and shift >= 1
    scaled = max(ratio, 1 / ratio) >= 1.4 and _jump(logs, cut) >= (4 if sharp else 8)
    if not (scaled and shift >= 0.3) and shift < 6:
        return None
    # Where a side wanders, the change is the data's own course.
    if unsteady > away / 3 or max(float(logs[:cut].std()), float(logs[cut:].std())) > 0.5:
        return None
    return {"ratio": ratio, "shift": shift, "steady": away / max(unsteady, 1e-300)}
