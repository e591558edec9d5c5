"""What a model answers, compared with its targets: whether outputs are probabilities, vary, and are right."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np
import torch

from traindx.observe.clock import perf_counter
from traindx.observe.torch.batches import Batches, input_statistics
from traindx.observe.torch.element_samples import Values, evenly, host, plain

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_ROWS, _POINTS, _CLASSES = 64, 4, 4096
_ELEMENTS = 65_536
_FEW_ROWS = 4
_BY_CLASS = frozenset({"cross_entropy", "nll_loss", "multi_margin_loss"})
_BY_SIGN = {"binary_cross_entropy_with_logits": 0.0, "binary_cross_entropy": 0.5}
# Losses whose outputs are numbers of the targets' own kind: not log rates, not directions.
_BY_NUMBER = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "gaussian_nll_loss"})
_IGNORED = -100


def answer_statistics(name: str, output: torch.Tensor, target: torch.Tensor) -> dict[str, float | None]:
    """Of the output that reached a loss function, on a sample of its rows."""
    answers, targets = plain(output), plain(target)
    if answers is None or targets is None or not answers.is_floating_point() or answers.dim() == 0:
        return {}
    if not answers.numel() or not targets.numel() or answers.shape[0] != targets.shape[0]:
        return {}
    with np.errstate(all="ignore"):
        statistics = _of_output(answers)
        if name in _BY_CLASS and answers.dim() > 1:
            statistics |= _of_classes(answers, targets)
        elif name in _BY_SIGN and answers.shape == targets.shape:
            statistics |= _of_signs(answers, targets, _BY_SIGN[name])
        elif name in _BY_NUMBER and targets.is_floating_point() and answers.shape == targets.shape:
            statistics |= _of_numbers(answers, targets)
    return {key: value for key, value in statistics.items() if value is None or np.isfinite(value)}


def _of_output(answers: torch.Tensor) -> dict[str, float | None]:
    """How far rows are from summing to one, and how much outputs vary over the batch."""
    statistics: dict[str, float | None] = {}
    if answers.dim() > 1 and 2 <= answers.shape[1] <= _CLASSES:
        rows = _by_row(answers)
        statistics["row_sum_error"] = float(np.abs(rows.sum(1) - 1).max())
    if answers.shape[0] >= _FEW_ROWS:
        limits = (_ROWS, *(8 for _ in answers.shape[1:]))
        flat = host(evenly(answers, limits)).astype(np.float64).reshape(min(_ROWS, answers.shape[0]), -1)
        statistics["batch_std"] = float(np.sqrt(flat.var(0).mean()))
    return statistics


def _by_row(answers: torch.Tensor) -> Values:
    """Rows of all classes: (rows, classes, points)."""
    rows = max(2, min(_ROWS, _ELEMENTS // answers.shape[1]))
    sample = host(evenly(answers, (rows, answers.shape[1], *(_POINTS for _ in answers.shape[2:]))))
    return sample.astype(np.float64).reshape(*sample.shape[:2], -1)


def _of_classes(answers: torch.Tensor, targets: torch.Tensor) -> dict[str, float | None]:
    if answers.shape[1] > _CLASSES or targets.shape != (answers.shape[0], *answers.shape[2:]):
        return {}
    best = _by_row(answers).argmax(1).reshape(-1)
    rows = max(2, min(_ROWS, _ELEMENTS // answers.shape[1]))
    right = host(evenly(targets, (rows, *(_POINTS for _ in targets.shape[1:])))).reshape(-1)
    return _hits(best, right, right != _IGNORED)


def _of_signs(answers: torch.Tensor, targets: torch.Tensor, middle: float) -> dict[str, float | None]:
    limits = (_ROWS, *(8 for _ in answers.shape[1:]))
    best = host(evenly(answers, limits)).reshape(-1) > middle
    right = host(evenly(targets, limits)).reshape(-1)
    return _hits(best.astype(np.int64), right, (right == 0) | (right == 1))


def _hits(best: Values, right: Values, counts: Values) -> dict[str, float | None]:
    best, right = best[counts], right[counts]
    if best.size < _FEW_ROWS:
        return {}
    top = np.bincount(best.astype(np.int64)).max()
    return {"top_share": float(top) / best.size, "right_share": float((best == right).mean())}


def _of_numbers(answers: torch.Tensor, targets: torch.Tensor) -> dict[str, float | None]:
    """The share of the targets' variance that is explained."""
    limits = (_ROWS, *(8 for _ in answers.shape[1:]))
    best = host(evenly(answers, limits)).astype(np.float64)
    right = host(evenly(targets, limits)).astype(np.float64)
    spread = float((right - right.mean(0)).var())
    if best.shape[0] < _FEW_ROWS or not spread > 0:
        return {}
    return {"explained": 1.0 - float(((best - right) ** 2).mean()) / spread}


_RARER = 1.15


class Answers:
    """The first loss function of a step is sampled, ever more rarely."""

    def __init__(self, watching: Watching, batches: Batches) -> None:
        self.watching = watching
        self.batches = batches
        self._name = ""
        self._calls, self._next = 0, 1.0 if watching.recorder.internals else inf

    def due(self, name: str) -> bool:
        """Whether to sample this call; counts it."""
        self._name = self._name or name
        if name != self._name:
            return False
        self._calls += 1
        return self._calls >= self._next

    def take(self, name: str, output: torch.Tensor, target: torch.Tensor) -> None:
        """One row of numbers at the step that is under way."""
        began = perf_counter()
        self._next = max(self._calls + 1, _RARER * self._calls)
        recorder = self.watching.recorder
        statistics = {f"target/{key}": value for key, value in self.batches.targets(target).items()}
        if output.is_floating_point():
            output = output.detach()
            numbers = {**input_statistics(output), **answer_statistics(name, output, target)}
            statistics |= {f"output/{key}": value for key, value in numbers.items()}
        recorder.row(statistics, recorder.step + 1)
        recorder.budget.spent += perf_counter() - began
