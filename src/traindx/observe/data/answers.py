"""Outputs of a model compared with its targets: whether they are probabilities, vary, and are correct."""

from __future__ import annotations

import numpy as np

from traindx.core.kinds import BY_CLASS, REGRESSION
from traindx.observe.arrays import Tensor, Values, evenly, host, is_real, readable

_ROWS, _POINTS, _CLASSES = 64, 4, 4096
_ELEMENTS = 65_536
_FEW_ROWS = 4
_BY_CLASS = BY_CLASS | {"class_hinge"}
_BY_SIGN = {"sigmoid_cross_entropy": 0.0, "binary_cross_entropy": 0.5}
# Losses whose outputs are numbers of the targets' own kind: not log rates, not directions.
_BY_NUMBER = REGRESSION | {"gaussian_likelihood"}
_IGNORED = -100


def answer_statistics(kind: str, output: Tensor, target: Tensor) -> dict[str, float | None]:
    """Of the output that reached a loss function of this kind, on a sample of its rows."""
    answers, targets = readable(output), readable(target)
    if answers is None or targets is None or not is_real(answers):
        return {}
    if answers.shape[0] != targets.shape[0]:
        return {}
    with np.errstate(all="ignore"):
        statistics = _of_output(answers)
        if kind in _BY_CLASS and answers.ndim > 1:
            statistics |= _of_classes(answers, targets)
        elif kind in _BY_SIGN and answers.shape == targets.shape:
            statistics |= _of_signs(answers, targets, _BY_SIGN[kind])
        elif kind in _BY_NUMBER and is_real(targets) and answers.shape == targets.shape:
            statistics |= _of_numbers(answers, targets)
    return {key: value for key, value in statistics.items() if value is None or np.isfinite(value)}


def _of_output(answers: Tensor) -> dict[str, float | None]:
    """How far rows are from summing to one, and how much outputs vary over the batch."""
    statistics: dict[str, float | None] = {}
    if answers.ndim > 1 and 2 <= answers.shape[1] <= _CLASSES:
        rows = _by_row(answers)
        statistics["row_sum_error"] = float(np.abs(rows.sum(1) - 1).max())
    if answers.shape[0] >= _FEW_ROWS:
        flat = _sample(answers).astype(np.float64).reshape(min(_ROWS, answers.shape[0]), -1)
        statistics["batch_std"] = float(np.sqrt(flat.var(0).mean()))
    return statistics


def _sample(data: Tensor) -> Values:
    """Some rows, and a few elements along each other dimension."""
    return host(evenly(data, (_ROWS, *(8 for _ in data.shape[1:]))))


def _by_row(answers: Tensor) -> Values:
    """Rows of all classes: (rows, classes, points)."""
    rows = max(2, min(_ROWS, _ELEMENTS // answers.shape[1]))
    sample = host(evenly(answers, (rows, answers.shape[1], *(_POINTS for _ in answers.shape[2:]))))
    return sample.astype(np.float64).reshape(*sample.shape[:2], -1)


def _of_classes(answers: Tensor, targets: Tensor) -> dict[str, float | None]:
    if answers.shape[1] > _CLASSES or targets.shape != (answers.shape[0], *answers.shape[2:]):
        return {}
    best = _by_row(answers).argmax(1).reshape(-1)
    rows = max(2, min(_ROWS, _ELEMENTS // answers.shape[1]))
    right = host(evenly(targets, (rows, *(_POINTS for _ in targets.shape[1:])))).reshape(-1)
    return _hits(best, right, right != _IGNORED)


def _of_signs(answers: Tensor, targets: Tensor, middle: float) -> dict[str, float | None]:
    best = _sample(answers).reshape(-1) > middle
    right = _sample(targets).reshape(-1)
    return _hits(best.astype(np.int64), right, (right == 0) | (right == 1))


def _hits(best: Values, right: Values, counts: Values) -> dict[str, float | None]:
    best, right = best[counts], right[counts]
    if best.size < _FEW_ROWS:
        return {}
    top = np.bincount(best.astype(np.int64)).max()
    return {"top_share": float(top) / best.size, "right_share": float((best == right).mean())}


def _of_numbers(answers: Tensor, targets: Tensor) -> dict[str, float | None]:
    """The share of the targets' variance that is explained."""
    best = _sample(answers).astype(np.float64)
    right = _sample(targets).astype(np.float64)
    spread = float((right - right.mean(0)).var())
    if best.shape[0] < _FEW_ROWS or not spread > 0:
        return {}
    return {"explained": 1.0 - float(((best - right) ** 2).mean()) / spread}
