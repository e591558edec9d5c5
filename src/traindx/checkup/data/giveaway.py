"""A column that alone gives the target away."""

from __future__ import annotations

from typing import Any

import numpy as np

from traindx.checkup.data.part import DataPart
from traindx.checkup.data.small_model import LeftOut, answers, group_means
from traindx.core.nouns import FloatArray, IntArray

_ALONE_MOST = 200


def giveaway(part: DataPart, model: LeftOut) -> dict[str, Any]:
    """The column that alone predicts the target best, what all others reach, and whether its gaps say it."""
    labels = model.labels
    best: tuple[float, str, bool] = (0.0, "", False)
    for name in part.inputs[:_ALONE_MOST]:
        values = part.numbers[:, part.names.index(name)]
        for only_gaps in (True, False):
            score = _alone(values, labels, model, only_gaps=only_gaps)
            if score is not None and score > best[0] + (0.0 if only_gaps else 0.01):
                best = (score, name, only_gaps)
    for name, codes in part.groups.items():
        if name in part.words and name not in (part.target,):
            score = _by_cells(codes[model.at], model)
            if score > best[0] + 0.01:
                best = (score, name, False)
    score, name, gaps = best
    if not name or score < 0.9:
        return {}
    without_column = answers(part, without=(name,))
    one_to_one = labels is not None and _renames(part, name, model)
    return {
        "alone": score,
        "alone_column": name,
        "alone_by_gaps": gaps,
        "alone_renames": one_to_one,
        "without": max(without_column.score, without_column.chance)
        if without_column is not None
        else model.chance,
        "without_z": float(without_column.z) if without_column is not None else 0.0,
    }


def _renames(part: DataPart, name: str, model: LeftOut) -> bool:
    """Whether a column is the target under another name: one value for each class."""
    values = part.column(name)
    codes = part.groups[name] if values is None else np.unique(values, return_inverse=True)[1]
    pairs = {(int(a), int(b)) for a, b in zip(codes[model.at], model.labels, strict=True)}  # type: ignore[arg-type]
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def _alone(values: FloatArray, labels: IntArray | None, model: LeftOut, *, only_gaps: bool) -> float | None:
    values = values[model.at]
    present = np.isfinite(values)
    if only_gaps:
        if present.all() or labels is None:
            return None
        return _by_cells(present.astype(np.int64), model)
    if not present.any() or float(np.ptp(values[present])) == 0:
        return None
    distinct = np.unique(values[present])
    if len(distinct) > 40:
        edges = np.unique(np.quantile(values[present], np.linspace(0, 1, 41)[1:-1]))
        cells = np.searchsorted(edges, np.where(present, values, 0.0))
    else:
        cells = np.searchsorted(distinct, np.where(present, values, distinct[0]))
    return _by_cells(np.where(present, cells + 1, 0), model)


def _by_cells(cells: IntArray, model: LeftOut) -> float:
    """How well the other rows of the same cell predict the target."""
    truth, cell_means = model.truth, group_means(cells, model.truth)
    if model.labels is not None:
        shared = np.bincount(cells)[cells] > 1
        return float(((cell_means.argmax(1) == model.labels) & shared).mean())
    return float(1 - ((truth - cell_means) ** 2).mean() / max(1e-300, float(truth.var())))
