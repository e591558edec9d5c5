"""A target that one group of rows gives in another unit: the same function of the inputs, times a factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from traindx.checkup.data.part import DataPart
from traindx.core.nouns import FloatArray, IntArray

_FACTORS = (10.0, 100.0, 1000.0, 1e6, 60.0, 3600.0, 25.4)
_ROWS_LEAST, _GROUPS_LEAST, _INPUTS_MOST, _GROUPS_MOST = 30, 3, 40, 50


def group_scale(part: DataPart) -> dict[str, Any]:
    """The group whose target is a unit's factor away from that of the others, at equal inputs.

    The logarithm of the target is fitted by inputs and one level for each group. `explained` is how much of
    the spread within the groups the inputs tell, `error` that of the group's level, `others` how far the
    levels of all other groups are apart.
    """
    values = part.column(part.target)
    if values is None or part.array or part.labels is not None:
        return {}
    fine = np.isfinite(values) & (values > 0)
    if fine.mean() < 0.99 or fine.sum() < 4 * _ROWS_LEAST:
        return {}
    logs = np.log(values[fine])
    inputs = _inputs(part)[fine]
    best: dict[str, Any] = {}
    for name, codes in part.groups_of(_GROUPS_MOST).items():
        fact = _odd_group(logs, inputs if name in part.words else _without(part, name)[fine], codes[fine])
        if fact and fact["z"] > best.get("z", 0.0):
            at = int((codes == fact.pop("code")).argmax())
            best = {"scale_column": name, "scale_group": part.shown(name, at)[:60], **fact}
    return best


def _without(part: DataPart, name: str) -> FloatArray:
    return _inputs(part, (name,))


def _inputs(part: DataPart, without: tuple[str, ...] = ()) -> FloatArray:
    """The inputs and, where they are positive, their logarithms, of equal scale."""
    columns = []
    for name in [name for name in part.inputs if name not in without][:_INPUTS_MOST]:
        values = part.numbers[:, part.names.index(name)]
        present = np.isfinite(values)
        if not present.any():
            continue
        filled = np.where(present, values, np.median(values[present]))
        columns += [filled, *([np.log(filled)] if filled.min() > 0 else [])]
    matrix = np.column_stack(columns) if columns else np.empty((len(part), 0))
    scale = matrix.std(0)
    return np.asarray((matrix[:, scale > 0] - matrix[:, scale > 0].mean(0)) / scale[scale > 0])


def _odd_group(logs: FloatArray, inputs: FloatArray, codes: IntArray) -> dict[str, Any]:
    count = np.bincount(codes)
    large = np.flatnonzero(count >= _ROWS_LEAST)
    if len(large) < _GROUPS_LEAST or not inputs.shape[1]:
        return {}
    kept = np.isin(codes, large)
    logs, inputs, groups = logs[kept], inputs[kept], np.searchsorted(large, codes[kept])
    sizes = np.bincount(groups)
    centred = [column - (np.bincount(groups, column) / sizes)[groups] for column in (logs, *inputs.T)]
    within, design = centred[0], np.column_stack(centred[1:])
    slopes = np.linalg.solve(
        design.T @ design + 1e-6 * len(logs) * np.eye(design.shape[1]), design.T @ within
    )
    residual = within - design @ slopes
    levels = np.bincount(groups, logs - inputs @ slopes) / sizes
    middle = float(np.median(levels))
    odd = int(np.abs(levels - middle).argmax())
    others = np.delete(levels, odd)
    away = float(levels[odd] - np.median(others))
    factor = min(_FACTORS, key=lambda factor: abs(np.log(factor) - abs(away)))
    error = float(residual.std() / np.sqrt(sizes[odd]))
    own = groups == odd
    return {
        "code": int(large[odd]),
        "group_rows": int(sizes[odd]),
        "groups_all": len(large),
        "away": away,
        "factor": factor,
        "factor_off": float(abs(np.log(factor) - abs(away))),
        "error": error,
        "others": float(np.ptp(others)),
        "explained": float(1 - residual.var() / max(1e-300, within.var())),
        "explained_own": float(1 - residual[own].var() / max(1e-300, within[own].var())),
        "z": abs(away) / max(1e-9, error),
    }
