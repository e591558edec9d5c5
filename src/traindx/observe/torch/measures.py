"""Statistics of each layer from the samples of a step. Everything here runs on the host.

Between the steps of a training nothing of this is in the cache of the processor, and each further operation
costs more than its elements do: few operations on whole blocks, then plain Python on what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, isfinite, sqrt

import numpy as np
import torch

from traindx.observe.arrays import Values
from traindx.observe.data.directions import cosine
from traindx.observe.torch.gradient_norms import Gradients
from traindx.observe.torch.sampled_elements import AFTER, BEFORE, GRADIENT, Bucket, ElementPlan

Arrays = Iterator[Values]
Column = list[float | None]


class StepSample:
    """One step of one optimizer; its numbers stay on their device until they are collected."""

    def __init__(self, plan: ElementPlan) -> None:
        self.plan = plan
        self.updated = False
        self.gradients: Gradients | None = None

    def tensors(self) -> Iterator[torch.Tensor]:
        """What `Layers.add` needs, in the order in which it takes it."""
        for bucket in self.plan.buckets:
            yield bucket.block
        if self.gradients is not None:
            yield from self.gradients.tensors()


class LayerGroups:
    """Sums over the parameters of each layer; None is a gap."""

    def __init__(self, count: int, *, by_hand: bool = False) -> None:
        # Products of update and gradient, of each with itself: only of updates that no optimizer made.
        self._along = [0.0, 0.0, 0.0] if by_hand else None
        self.weight: Column = [None] * count
        self.update: Column = [None] * count
        self.gradient: Column = [None] * count
        self.nonfinite: Column = [None] * count
        self.zeros: Column = [None] * count
        self.elements = [0.0] * count
        self.still: Column = [None] * count
        self.aligned = [[0.0, 0.0, 0.0] for _ in range(count)]

    def add(self, sample: StepSample, arrays: Arrays) -> dict[int, float]:
        """Add a sample, and give the square of each gradient's norm. The blocks of samples are used up."""
        plan = sample.plan
        blocks = [next(arrays) for _ in plan.buckets]
        squares: dict[int, float] = {}
        if sample.gradients is not None:
            squares = self._add_gradients(plan.layers, sample.gradients, arrays, blocks)
        for bucket, block in zip(plan.buckets, blocks, strict=True):
            if bucket.sampled:
                self._add_samples(sample, bucket, block)
        return squares

    def along(self) -> tuple[float, float] | None:
        """Between update and gradient: the cosine, and how many times as long the update was."""
        if self._along is None:
            return None
        direction = cosine(*self._along)
        return None if direction is None else (direction, self._along[0] / self._along[2])

    def statistics(self) -> dict[str, Column]:
        ratios: Column = [
            sqrt(update) / sqrt(weight) if update is not None and weight else None
            for update, weight in zip(self.update, self.weight, strict=True)
        ]
        return {
            "grad_norm": _roots(self.gradient),
            "grad_zero_share": [
                zeros / elements if zeros is not None else None
                for zeros, elements in zip(self.zeros, self.elements, strict=True)
            ],
            "grad_nonfinite": self.nonfinite,
            "weight_norm": _roots(self.weight),
            "update_ratio": ratios,
            "grad_cosine": [cosine(*sums) for sums in self.aligned],
        } | ({"update_lost_share": self.still} if any(share is not None for share in self.still) else {})

    def _add_samples(self, sample: StepSample, bucket: Bucket, block: Values) -> None:
        weights = block[:GRADIENT]
        block[AFTER] -= block[BEFORE]
        gradients = sample.gradients
        sampled = gradients.sampled.get(id(bucket)) if gradients is not None else set()
        if bucket.coarse and sample.updated:
            self._add_still(bucket, block, sampled)
        if self._along is not None and sample.updated and gradients is not None:
            pairs = ((AFTER, GRADIENT), (AFTER, AFTER), (GRADIENT, GRADIENT))
            self._along = [
                sum_ + float(block[first] @ block[second])
                for sum_, (first, second) in zip(self._along, pairs, strict=True)
            ]
        if sample.gradients is not None:
            self._add_direction(bucket, block[GRADIENT], sampled)
        np.multiply(weights, weights, out=weights)
        np.equal(block[GRADIENT], 0, out=block[GRADIENT], casting="unsafe")
        sums = np.add.reduceat(block, bucket.starts, axis=1).tolist()
        for position, layer in enumerate(bucket.layers):
            factor = bucket.factors[position]
            self.weight[layer] = (self.weight[layer] or 0.0) + factor * sums[BEFORE][position]
            if sample.updated:
                self.update[layer] = (self.update[layer] or 0.0) + factor * sums[AFTER][position]
            if sampled is None or position in sampled:
                self._add_zeros(layer, factor * sums[GRADIENT][position], bucket.sizes[position])

    def _add_direction(self, bucket: Bucket, gradient: Values, sampled: set[int] | None) -> None:
        """The direction of the gradient compared with the sample before: same 1, across 0, back -1."""
        last, bucket.last = bucket.last, (gradient.copy(), sampled)
        if last is None:
            return
        previous, sampled_before = last
        sums = [
            np.add.reduceat(products, bucket.starts).tolist()
            for products in (gradient * previous, gradient * gradient, previous * previous)
        ]
        for position, layer in enumerate(bucket.layers):
            if all(positions is None or position in positions for positions in (sampled, sampled_before)):
                for place in range(3):
                    self.aligned[layer][place] += bucket.factors[position] * sums[place][position]

    def _add_still(self, bucket: Bucket, block: Values, sampled: set[int] | None) -> None:
        """Of layers in half precision: how many elements with a gradient the step left as they were."""
        moving = block[GRADIENT] != 0
        still = moving & (block[AFTER] == 0)
        counts = np.add.reduceat(np.stack([still, moving]), bucket.starts, axis=1, dtype=np.int64).tolist()
        for position in bucket.coarse:
            if counts[1][position] and (sampled is None or position in sampled):
                self.still[bucket.layers[position]] = counts[0][position] / counts[1][position]

    def _add_zeros(self, layer: int, zeros: float, elements: float) -> None:
        self.zeros[layer] = (self.zeros[layer] or 0.0) + zeros
        self.elements[layer] += elements

    def _add_gradients(
        self, layers: Sequence[int], gradients: Gradients, arrays: Arrays, blocks: list[Values]
    ) -> dict[int, float]:
        squares: dict[int, float] = {}
        bad: dict[int, float] = dict(gradients.nonfinite)
        for place, numbers, norms in gradients.dense:
            values = norms if isinstance(norms, list) else next(arrays).tolist()
            squares.update((number, norm * norm) for number, norm in zip(numbers, values, strict=True))
            if not isinstance(norms, list) and not all(map(isfinite, values)):
                bucket = gradients.plan.buckets[place]
                bad |= _guess_nonfinite(bucket, blocks[place], dict(zip(numbers, values, strict=True)))
        for number, elements, _ in gradients.sparse:
            norm, filled, nonfinite = next(arrays).tolist()
            squares[number], bad[number] = norm * norm, nonfinite
            self._add_zeros(layers[number], elements - filled, elements)
        scale = gradients.scale
        if scale is not None:
            factor = float(next(arrays)[0] if isinstance(scale, torch.Tensor) else scale) ** -2
            squares = {number: square * factor for number, square in squares.items()}
        for number, square in squares.items():
            layer = layers[number]
            self.gradient[layer] = (self.gradient[layer] or 0.0) + square
            self.nonfinite[layer] = (self.nonfinite[layer] or 0) + bad.get(number, 0)
        return squares


def _guess_nonfinite(bucket: Bucket, block: Values, norms: dict[int, float]) -> dict[int, float]:
    """Values that stayed on a device are counted by their sample; there is at least one."""
    bad = {number: 1.0 for number, norm in norms.items() if not isfinite(norm)}
    if bucket.sampled:
        counts = np.add.reduceat(~np.isfinite(block[GRADIENT]), bucket.starts, dtype=np.int64).tolist()
        for number, count, factor in zip(bucket.sampled, counts, bucket.factors, strict=True):
            if number in bad:
                bad[number] = max(1.0, round(count * factor))
    return bad


def _roots(squares: Column) -> Column:
    return [square if square is None or not 0 < square < inf else sqrt(square) for square in squares]
