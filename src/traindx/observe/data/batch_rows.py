"""Rows of batches: a few elements of a few samples, a print of each, and how their features spread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from traindx.observe.arrays import Tensor, Values, evenly, host, is_real, limits, readable, size

ENOUGH = 32
_ELEMENTS_COMPARED = 8192
_ROWS, _FEATURES = 64, 64
_FEW = 4
_REACH = 30.0
_OTHERS = 8
_TARGETS = 16
# The error of a target that was read from a difference, next to the largest one (`written_losses`).
_ROUNDED = 5e-5
_FACTOR, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


class RowMoments:
    """Mean and spread of each feature."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum: Values = np.zeros(0)
        self._squares: Values = np.zeros(0)

    def add(self, rows: Values) -> None:
        if self._sum.size != rows.shape[1]:
            if self.rows:
                return
            self._sum, self._squares = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
        good = np.where(np.isfinite(rows), rows, 0.0).astype(np.float64)
        if self.rows >= ENOUGH:
            # A single outlier would widen the spread beyond all sense.
            reach = _REACH * (self.std + 1e-12)
            good = np.clip(good, self.mean - reach, self.mean + reach)
        self.rows += rows.shape[0]
        self._sum += good.sum(0)
        self._squares += (good * good).sum(0)

    @property
    def mean(self) -> Values:
        return self._sum / max(1, self.rows)

    @property
    def std(self) -> Values:
        spread: Values = np.sqrt(np.maximum(self._squares / max(1, self.rows) - self.mean**2, 0.0))
        return spread


class Moments:
    """Mean and spread of each feature, and of all values together."""

    def __init__(self) -> None:
        self.samples = 0
        self.features, self.values = RowMoments(), RowMoments()

    def add(self, rows: Values) -> None:
        self.samples += rows.shape[0]
        self.features.add(rows)
        self.values.add(rows.reshape(-1, 1))


def prints(rows: Values) -> npt.NDArray[np.uint64]:
    """One number for each row, the same for the same row."""
    if rows.dtype.kind == "f":
        words = np.ascontiguousarray(rows, np.float32).view(np.uint32).astype(np.uint64)
    else:
        words = rows.astype(np.int64).view(np.uint64)
    places = np.arange(1, words.shape[1] + 1, dtype=np.uint64) * _FACTOR
    mixed = (words + places) * (places | np.uint64(1))
    mixed ^= mixed >> _MIX
    numbers: npt.NDArray[np.uint64] = (mixed * _FACTOR).sum(1, dtype=np.uint64)
    return numbers


def marks_of(rows: Values, other_tensors: Sequence[Tensor]) -> npt.NDArray[np.uint64]:
    """The prints of samples, each made of a row and of the same row of the other tensors."""
    marks = prints(rows)
    for tensor in other_tensors[:_OTHERS]:
        data = readable(tensor)
        if data is None:
            continue
        other_rows = rows_of(data if data.ndim > 1 else data.reshape(-1, 1))
        if other_rows is not None and len(other_rows) == len(marks):
            marks = marks * _FACTOR + prints(other_rows)
    return marks


def rows_of(tensor: Tensor) -> Values | None:
    """A few rows, and a few elements of each."""
    data = readable(tensor)
    if data is None or data.ndim < 2:
        return None
    sample = host(evenly(data, [_ROWS, *limits(data.shape[1:], _FEATURES)]))
    return sample.reshape(sample.shape[0], -1)


def target_places(inputs: Tensor, labels: Values) -> Values | None:
    """At which elements of the input every row of a batch holds its own target; None where unclear."""
    data = readable(inputs)
    if data is None or not is_real(data) or size(data[0]) > _ELEMENTS_COMPARED or np.unique(labels).size < 3:
        return None
    values = host(evenly(data, [_ROWS, *data.shape[1:]])).reshape(len(labels), -1)
    is_close = np.abs(values - labels[:, None]) <= _ROUNDED * np.abs(labels).max()
    is_target: Values = is_close.all(0)
    return is_target


def targets_per_sample(target: Tensor | None, count: int, rows: int) -> Values | None:
    """The targets of the same rows, where there is one number for each sample."""
    data = readable(target) if target is not None else None
    if data is None or data.shape[0] != count or size(data) != count or _positions(data):
        return None
    values: Values = host(evenly(data.reshape(count), (_ROWS,)))
    return values if values.size == rows and np.isfinite(values).all() else None


def target_rows(target: Tensor | None, inputs: Tensor, rows: int) -> Values | None:
    """The targets of the same rows, where they are a few real numbers for each sample, and not its input."""
    data = readable(target) if target is not None else None
    if data is None or data.ndim < 2 or not is_real(data) or data.shape[0] != inputs.shape[0]:
        return None
    if not 2 <= size(data[0]) <= _TARGETS:
        return None
    values: Values = host(evenly(data, (_ROWS, *data.shape[1:]))).reshape(-1, size(data[0]))
    if len(values) != rows or not np.isfinite(values).all():
        return None
    read = readable(inputs) if data.shape == inputs.shape else None
    copied = read is not None and np.allclose(
        host(evenly(read, (_ROWS, *data.shape[1:]))).reshape(rows, -1), values
    )
    return None if copied else values


def _positions(target: Tensor) -> bool:
    """Whether targets only number the samples of a batch, as those of contrastive losses do."""
    if is_real(target) or size(target) < _FEW:
        return False
    return bool((host(target).reshape(-1) == np.arange(size(target))).all())
