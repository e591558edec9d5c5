"""Curves that the recorder saw and the script told as well: which of them keeps the name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from traindx.logs.log import Column
from traindx.logs.printed_text import Told

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_HELD_OUT = ("val/", "test/")
_ENOUGH = 3
# Two curves whose ratio is far from one and hardly moves are one curve in two units.
_APART = 1.3
_STEADY = 1.15


def with_told(recorded: Iterable[Column], tellings: Sequence[tuple[str, Sequence[Told]]]) -> list[Column]:
    """The recorded columns and what the script told, by the way it told it, the surest first.

    What was recorded of the training stands, and what the script says of it goes aside
    (`printed/loss`). On held-out data the script knows best what it measures: what was observed goes
    aside (`observed/val/loss`), unless the script told less than three values of it, or told the same
    curve in a unit that is further from that of the recorded loss (sums where that is a mean).
    """
    columns = list(recorded)
    recorder = set(map(id, columns))
    holders: dict[str, Column] = {column.given: column for column in columns}
    loss = holders.get("loss")
    for source, told in tellings:
        longest: dict[str, Column] = {}
        for one in told:
            if one.plain not in longest or longest[one.plain].values.size < one.column.values.size:
                longest[one.plain] = one.column
        for plain, column in longest.items():
            seen = holders.get(plain)
            if seen is not None and id(seen) in recorder and _better(plain, column, seen, loss):
                seen.given = f"observed/{plain}"
                del holders[plain]
        for one in told:
            if one.plain in holders:
                one.column.given = f"{source}/{one.column.given}"
            columns.append(one.column)
        holders = {**longest, **holders}
    return columns


def _better(name: str, told: Column, observed: Column, loss: Column | None) -> bool:
    """Whether what the script told takes the place of what was observed."""
    if not name.startswith(_HELD_OUT) or told.values.size < min(_ENOUGH, observed.values.size):
        return False
    if told.axis not in (None, "step"):
        return told.values.size > observed.values.size
    _, mine, other = np.intersect1d(told.steps, observed.steps, return_indices=True)
    level = _level(loss.values) if loss is not None else 0.0
    pairs = told.values[mine], observed.values[other]
    if level <= 0 or not _one_curve(*pairs):
        return True
    mine_off, other_off = (abs(math.log(_level(values) / level)) for values in pairs)
    return mine_off <= other_off


def _one_curve(a: FloatArray, b: FloatArray) -> bool:
    """Whether two curves are the same but for their unit."""
    if a.size < 2 or not (np.isfinite(a) & np.isfinite(b) & (a > 0) & (b > 0)).all():
        return False
    ratios = a / b
    middle = float(np.median(ratios))
    return max(middle, 1 / middle) > _APART and bool(ratios.max() < _STEADY * ratios.min())


def _level(values: FloatArray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else 0.0
