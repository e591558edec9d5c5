"""The direction of gradients compared with the sample before: same 1, across 0, back -1."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import inf, isfinite, sqrt

import numpy as np

from traindx.observe.arrays import Values


def cosine(product: float, first_square: float, second_square: float) -> float | None:
    """From the product of two vectors and the squares of their lengths; None where it is not defined."""
    size = first_square * second_square
    return product / sqrt(size) if 0 < size < inf and isfinite(product) else None


class GradientDirections:
    """Remembers the last gradient of each parameter."""

    def __init__(self) -> None:
        self._last: dict[Hashable, Values] = {}

    def cosine(self, parameters: Sequence[Hashable], gradients: Sequence[Values | None]) -> float | None:
        """Over all parameters of a layer; None where one of them has no gradient."""
        product = square = last_square = 0.0
        for parameter, gradient in zip(parameters, gradients, strict=True):
            if gradient is None:
                return None
            last, self._last[parameter] = self._last.get(parameter), gradient
            if last is not None and last.shape == gradient.shape:
                product += float(np.vdot(gradient, last))
                square += float(np.vdot(gradient, gradient))
                last_square += float(np.vdot(last, last))
        return cosine(product, square, last_square)
