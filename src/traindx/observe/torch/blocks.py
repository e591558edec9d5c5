"""Where samples of activations are kept, and their statistics.

All samples on a device lie one after the other, so that the numbers of many modules come from few
operations; those that must be read unit by unit lie in blocks of the same size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import torch

from traindx.core.kinds import LayerShape
from traindx.observe.arrays import Values
from traindx.observe.torch.element_samples import to_host
from traindx.observe.torch.slots import SampleSlot

Column = list[float | None]

STATISTICS = ("zero_share", "dead_share", "saturated_share", "spread", "mean", "std", "nonfinite")
_DEAD_ROWS, _DEAD_SAMPLES, _DEAD_WINDOW = 256, 3, 10
_MOST = 600
# Elements and rows of a sample. Zeros are counted unit by unit; of layers there are only moments.
_OF_ACTIVATIONS, _OF_LAYERS = (8192, 16), (2048, 4)


class LayerBlock:
    """Samples of one size of activations of one shape, and for how long each unit has been silent."""

    def __init__(self, rows: int, units: int, shape: LayerShape) -> None:
        self.rows, self.units, self.shape = rows, units, shape
        self.slots: list[SampleSlot] = []
        self._silent = np.zeros((0, units), np.int64)
        self._samples = np.zeros(0, np.int32)

    def remove(self, slot: SampleSlot) -> None:
        number = self.slots.index(slot)
        self.slots.remove(slot)
        if number < len(self._samples):
            self._silent = np.delete(self._silent, number, axis=0)
            self._samples = np.delete(self._samples, number)

    def settle(self) -> None:
        new_slots = len(self.slots) - len(self._samples)
        self._silent = np.concatenate([self._silent, np.zeros((new_slots, self.units), np.int64)])
        self._samples = np.concatenate([self._samples, np.zeros(new_slots, np.int32)])

    def measure(self, values: Values, turn: int) -> Iterable[tuple[float | None, ...]]:
        """Zero, dead, saturated share and spread of each slot; one not filled this turn keeps its state."""
        gap: Column = [None] * len(self.slots)
        filled = [slot.filled == turn for slot in self.slots]
        zero, dead, saturated = gap, gap, gap
        if self.shape.zero is not None and any(filled):
            zero, dead = self._zeros(
                values, self.shape.zero, slice(None) if all(filled) else np.array(filled)
            )
        if self.shape.saturates and any(filled):
            flat = (values <= self.shape.low) | (values >= self.shape.high)
            saturated = [int(np.count_nonzero(sample)) / sample.size for sample in flat]
        return zip(zero, dead, saturated, _spreads(values), strict=True)

    def _zeros(self, values: Values, near: float, where: Any) -> tuple[Column, Column]:
        full = ~(np.abs(values) <= near) if near else values != 0
        counts = np.add.reduce(full.view(np.uint8), axis=1, dtype=np.uint8)
        zero: Column = (1 - np.add.reduce(counts, axis=1, dtype=np.float64) / values[0].size).tolist()
        silent = (self._silent + 1) * (counts == 0)
        if isinstance(where, slice):
            self._silent = silent
        else:
            self._silent[where] = silent[where]
        self._samples[where] += 1
        # Dead is what was silent in each of the last samples, enough of them to see that many rows.
        enough = max(_DEAD_SAMPLES, -(-_DEAD_ROWS // self.rows))
        window = np.minimum(self._samples, max(_DEAD_WINDOW, enough))
        share = np.add.reduce(self._silent >= window[:, None], axis=1, dtype=np.float64) / self.units
        pairs = zip(share.tolist(), self._samples.tolist(), strict=True)
        return zero, [dead_share if samples >= enough else None for dead_share, samples in pairs]


class Heap:
    """All samples on one device: those of layers, of which there are only moments, then the blocks."""

    def __init__(self, device: torch.device) -> None:
        self.values = torch.zeros(0, device=device)
        self.slots: list[SampleSlot] = []
        self.layers: list[SampleSlot] = []
        self.blocks: dict[tuple[int, int, LayerShape], LayerBlock] = {}
        self._sizes: list[int] = []
        self._starts = np.zeros(0, np.intp)
        self._squares = np.zeros(0, np.float32)

    def add(self, slot: SampleSlot, shape: LayerShape | None) -> None:
        """A new slot has a place of its own until the heap is settled."""
        slot.target = self.values.new_zeros((slot.outer, slot.inner, slot.units))
        if shape is None:
            self.layers.append(slot)
        else:
            key = (slot.rows, slot.units, shape)
            self.blocks.setdefault(key, LayerBlock(*key)).slots.append(slot)

    def remove(self, slot: SampleSlot) -> bool:
        """Take a slot out; it keeps its sample. False when it is not here."""
        holders: list[Any] = [self.layers, *self.blocks.values()]
        for holder in holders:
            if slot in (holder if holder is self.layers else holder.slots):
                holder.remove(slot)
                slot.target = slot.target.clone()
                return True
        return False

    def settle(self, turn: int) -> bool:
        """Bring all samples, old and new, in order; False when none was taken in this turn."""
        slots = [*self.layers, *(slot for block in self.blocks.values() for slot in block.slots)]
        if slots == self.slots or not slots:
            return any(slot.filled == turn for slot in slots)
        self.slots = slots
        self._sizes = [slot.target.numel() for slot in slots]
        self._starts = np.cumsum([0, *self._sizes[:-1]])
        self.values = torch.cat([slot.target.reshape(-1) for slot in slots])
        self._squares = np.zeros(self.values.numel(), np.float32)
        for slot, part in zip(slots, torch.split_with_sizes(self.values, self._sizes), strict=True):
            slot.target = part.view(slot.outer, slot.inner, slot.units)
        for block in self.blocks.values():
            block.settle()
        return any(slot.filled == turn for slot in slots)

    def measure(self, values: Values, turn: int) -> Iterator[tuple[SampleSlot, tuple[float | None, ...]]]:
        """The statistics of each slot that was filled in this turn, from the samples on the host."""
        np.multiply(values, values, out=self._squares)
        sums = np.add.reduceat(values, self._starts).tolist()
        squares = np.add.reduceat(self._squares, self._starts).tolist()
        shares: list[tuple[float | None, ...]] = [(None, None, None, None)] * len(self.layers)
        start = sum(self._sizes[: len(self.layers)])
        for block in self.blocks.values():
            end = start + len(block.slots) * block.rows * block.units
            shares += block.measure(values[start:end].reshape(-1, block.rows, block.units), turn)
            start = end
        for number, slot in enumerate(self.slots):
            if slot.filled == turn:
                begin, size = int(self._starts[number]), self._sizes[number]
                moments = _moments(sums[number] / size, squares[number] / size, values[begin : begin + size])
                yield slot, (*shares[number], *moments)


class Shelf:
    """All samples of activations, on whatever devices. What is rarely sampled is kept apart."""

    def __init__(self) -> None:
        self._heaps: dict[tuple[torch.device, bool], Heap] = {}
        self._count = 0

    def slot(self, tensor: torch.Tensor, first: bool, shape: LayerShape | None) -> SampleSlot | None:
        """A place for samples of tensors like this one; None when there are enough places."""
        if self._count >= _MOST:
            return None
        self._count += 1
        elements, least = _OF_LAYERS if shape is None else _OF_ACTIVATIONS
        slot = SampleSlot(tensor, first, elements, least)
        self._heap(tensor.device, rarely=False).add(slot, shape)
        return slot

    def latest(self) -> list[SampleSlot]:
        """The activations of which a sample was taken in the latest sample; layers where there are none."""
        heaps = self._heaps.values()
        slots = [slot for heap in heaps for block in heap.blocks.values() for slot in block.slots]
        slots = slots or [slot for heap in heaps for slot in heap.layers]
        turn = max((slot.filled for slot in slots), default=-1)
        return [slot for slot in slots if slot.filled == turn >= 0]

    def put_apart(self, slot: SampleSlot) -> None:
        """The sample of a layer will rarely be taken from now on."""
        device = slot.target.device
        self._heap(device, rarely=False).remove(slot)
        self._heap(device, rarely=True).layers.append(slot)

    def drop(self, slot: SampleSlot) -> None:
        """Its module is gone."""
        self._count -= any(heap.remove(slot) for heap in self._heaps.values())

    def measure(self, turn: int) -> Iterator[tuple[SampleSlot, tuple[float | None, ...]]]:
        """The statistics of all samples taken in a turn."""
        heaps = [heap for heap in self._heaps.values() if heap.settle(turn)]
        for heap, values in zip(heaps, to_host([heap.values for heap in heaps]), strict=True):
            yield from heap.measure(values, turn)

    def _heap(self, device: torch.device, *, rarely: bool) -> Heap:
        key = (device, rarely)
        if key not in self._heaps:
            self._heaps[key] = Heap(device)
        return self._heaps[key]


def _spreads(values: Values) -> Column:
    """How far each unit varies from row to row compared with its size: 0 says the same for every sample."""
    apart = values - values[:, :1]
    rows = values.shape[1]
    shift = np.add.reduce(apart, axis=1) / rows
    within = np.einsum("nru,nru->n", apart, apart) / rows - np.einsum("nu,nu->n", shift, shift)
    whole = np.einsum("nru,nru->n", values, values) / rows
    pairs = zip(within.tolist(), whole.tolist(), strict=True)
    return [sqrt(max(part, 0.0) / total) if 0 < total < inf and part < inf else None for part, total in pairs]


def _moments(mean: float, square: float, values: Values) -> tuple[float, float, float]:
    """Mean, standard deviation and share of non-finite values, from the means of values and of squares."""
    variance = square - mean * mean
    if variance > 1e-2 * mean * mean and square < inf:
        return mean, sqrt(variance), 0.0
    # Little is left of the difference, or something is not finite: the long way.
    good = np.isfinite(values)
    bad = 1 - int(np.count_nonzero(good)) / values.size
    if bad:
        return mean, nan, bad
    return float(values.mean(dtype=np.float64)), float(values.std(dtype=np.float64)), 0.0
