"""Curves that both the recorder and the script reported: which of them gets the plain name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from traindx.core.nouns import FloatArray
from traindx.logs.log import Column
from traindx.logs.printed_text import ScriptColumn

_HELD_OUT = ("val/", "test/")
_ENOUGH = 3
# Two curves whose ratio is far from one and hardly moves are one curve in two units.
_APART = 1.3
_STEADY = 1.15


def with_script_columns(
    recorded: Iterable[Column], reports: Sequence[tuple[str, Sequence[ScriptColumn]]]
) -> list[Column]:
    """The recorded columns and those the script reported, by the way it did, the surest first.

    A recorded curve of the training keeps its name, and the script's is renamed
    (`printed/loss`). On held-out data the script knows best what it measures: the observed curve is
    renamed (`observed/val/loss`), unless the script reported fewer than three values, or the same
    curve in a unit that is further from that of the recorded loss (sums where that is a mean).
    """
    columns = list(recorded)
    recorder = set(map(id, columns))
    holders: dict[str, Column] = {column.canonical: column for column in columns}
    loss = holders.get("loss")
    for source, reported in reports:
        longest: dict[str, Column] = {}
        for script in reported:
            if script.plain not in longest or longest[script.plain].values.size < script.column.values.size:
                longest[script.plain] = script.column
        for plain, column in longest.items():
            observed = holders.get(plain)
            if observed is not None and id(observed) in recorder and _better(plain, column, observed, loss):
                observed.canonical = f"observed/{plain}"
                del holders[plain]
        for script in reported:
            if script.plain in holders:
                script.column.canonical = f"{source}/{script.column.canonical}"
            columns.append(script.column)
        holders = {**longest, **holders}
    return columns


def _better(name: str, reported: Column, observed: Column, loss: Column | None) -> bool:
    """Whether the script's curve replaces the observed one."""
    if not name.startswith(_HELD_OUT) or reported.values.size < min(_ENOUGH, observed.values.size):
        return False
    if reported.axis not in (None, "step"):
        return reported.values.size > observed.values.size
    _, at_reported, at_observed = np.intersect1d(reported.steps, observed.steps, return_indices=True)
    level = _level(loss.values) if loss is not None else 0.0
    pairs = reported.values[at_reported], observed.values[at_observed]
    if level <= 0 or not _one_curve(*pairs):
        return True
    reported_off, observed_off = (abs(math.log(_level(values) / level)) for values in pairs)
    return reported_off <= observed_off


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
