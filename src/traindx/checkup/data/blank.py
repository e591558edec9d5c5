"""Rows of an array that hold one value throughout: nothing was read there."""

from __future__ import annotations

from typing import Any

import numpy as np

from traindx.checkup.data.part import DataPart

_WIDTH_LEAST = 8


def blank_rows(part: DataPart) -> dict[str, Any]:
    """How many rows of an array hold one value, and what targets they have; empty without any.

    `one_target` is the share of them that have the most common target among them; of real targets how
    much less they differ than all do.
    """
    if part.array in ("", "pixel"):
        return {}
    names = [name for name in part.names if name != part.target]
    if len(names) < _WIDTH_LEAST:
        return {}
    matrix = part.matrix(names)
    blank = np.flatnonzero(np.ptp(matrix, axis=1) == 0)
    if not len(blank) or len(blank) == len(part):
        return {}
    fact: dict[str, Any] = {"table": part.name, "blank": len(blank), "rows": len(part)}
    stretches = np.split(blank, np.flatnonzero(np.diff(blank) > 1) + 1)
    longest = max(stretches, key=len)
    fact |= {"value": float(matrix[blank[0], 0]), "stretch": len(longest)}
    fact |= {"blank_rows": [int(part.rows[longest[0]]), int(part.rows[longest[-1]])]}
    labels, values = part.labels, part.column(part.target)
    if labels is not None:
        fact["one_target"] = float(np.bincount(labels[blank]).max() / len(blank))
    elif values is not None and np.isfinite(values).all() and values.std() > 0:
        fact["one_target"] = float(1 - values[blank].std() / values.std())
    return fact
