"""Which elements of a tensor are read each time it comes by: some rows of every unit.

A unit is a feature or a channel; a row is a place in the batch, in the sequence, in the image.
"""

from __future__ import annotations

from typing import Any

import torch

_UNITS = 2048
_MOST_ROWS = 255  # what a byte can count
_RUN = 16
_PATIENCE = 3


class SampleSlot:
    """The sample of a tensor that comes by again and again: about so many elements, at least so many rows."""

    def __init__(self, tensor: torch.Tensor, first: bool, elements: int, least: int = 1) -> None:
        ndim = tensor.dim()
        self.first = first
        self.unit = 1 if first else ndim - 1
        row_axes = [axis for axis in range(ndim) if axis != self.unit]
        self.axes = (row_axes[0] if row_axes else None, row_axes[-1] if len(row_axes) > 1 else None)
        self.between = row_axes[1:-1]
        sizes = tensor.shape
        units = sizes[self.unit]
        self.units = min(units, _UNITS)
        outer, inner = (1 if axis is None else sizes[axis] for axis in self.axes)
        rows = min(max(elements // max(self.units, 1), least), _MOST_ROWS)
        if first:  # neighbours in a line of an image lie together in memory
            self.inner = min(inner, _RUN)
            self.outer = min(outer, max(rows // self.inner, 1))
        else:
            self.outer = min(outer, rows)
            self.inner = min(inner, max(rows // self.outer, 1))
        self.rows = self.outer * self.inner
        self._misses = 0
        self.filled = -1
        self.index = -1
        self.target = torch.empty(0)
        self._sizes: torch.Size | None = None
        self._strides: tuple[int, ...] = ()
        self._count = (self.outer, self.inner, self.units)
        self._step: tuple[int, ...] = ()
        self._shifts: list[tuple[int, int, int]] = []

    def take(self, tensor: Any, turn: int) -> bool:
        """Copy the sample, where no gradients are recorded. False when such tensors no longer come by."""
        if type(tensor) is not torch.Tensor:
            return True
        if (tensor.shape != self._sizes or tensor.stride() != self._strides) and not self._measure(tensor):
            self._misses += 1
            return self._misses <= _PATIENCE
        offset = tensor.storage_offset()
        for places, far, stride in self._shifts:
            offset += turn * far % places * stride
        self.target.copy_(tensor.as_strided(self._count, self._step, offset))
        self.filled = turn
        return True

    def _measure(self, tensor: torch.Tensor) -> bool:
        """Find the places to read in a tensor of another size; False when it is too small for the sample."""
        sizes, strides, sizes_before = tensor.shape, tensor.stride(), self._sizes
        if sizes_before is not None and (
            len(sizes) != len(sizes_before) or sizes[self.unit] != sizes_before[self.unit]
        ):
            return False
        lengths = [1 if axis is None else sizes[axis] for axis in self.axes]
        if lengths[0] < self.outer or lengths[1] < self.inner:
            return False
        apart = [lengths[0] // self.outer, lengths[1] // self.inner, sizes[self.unit] // self.units]
        if self.first:
            apart[1] = 1
        along = [0 if axis is None else strides[axis] for axis in (*self.axes, self.unit)]
        self._step = tuple(gap * stride for gap, stride in zip(apart, along, strict=True))
        # Each turn other rows are read: (places to start from, how far on each turn, stride).
        starts = (lengths[0] - (self.outer - 1) * apart[0], lengths[1] - (self.inner - 1) * apart[1])
        shifts = [(starts[0], 1, along[0]), (starts[1], _RUN, along[1])]
        shifts += [(sizes[axis], 7, strides[axis]) for axis in self.between]
        self._shifts = [shift for shift in shifts if shift[0] > 1]
        self._sizes, self._strides, self._misses = sizes, strides, 0
        return True
