"""Gradients, weights and updates of each layer, from samples of its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from traindx.observe.arrays import Values
from traindx.observe.data.directions import GradientDirections
from traindx.observe.jax.pytrees import Names

Column = list[float | None]
_STATISTICS = ("grad_norm", "grad_zero_share", "grad_nonfinite", "weight_norm", "update_ratio", "grad_cosine")


class Layers:
    """What each step did to each layer. Biases next to a matrix count for the gradient only."""

    def __init__(self) -> None:
        self._directions = GradientDirections()
        self.without: dict[str, bool] = {}
        self.reached: set[str] = set()
        self.norm: float | None = None
        # Samples whose update is known, and whether any of them changed a weight.
        self.updates = 0
        self.changed = False

    def statistics(
        self,
        names: Sequence[Names],
        shapes: Sequence[tuple[int, ...]],
        weights: Sequence[Values | None],
        new_weights: Sequence[Values | None],
        gradients: Sequence[Values | None],
        scales: Sequence[int],
    ) -> tuple[list[str], dict[str, Column]]:
        """Names of layers, and for each statistic one value for each; `scales`: elements per sampled one."""
        layers: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            layers.setdefault("/".join(name[:-1]) or name[0], []).append(place)
            self._note(name, gradients[place])
        squares = [
            scales[n] * _square(gradient) for n, gradient in enumerate(gradients) if gradient is not None
        ]
        self.norm = sqrt(sum(squares)) if squares and len(squares) == len(names) else None
        self._note_changes([_apart(old, new) for old, new in zip(weights, new_weights, strict=True)])
        rows: list[Column] = []
        for places in layers.values():
            wide = [place for place in places if len(shapes[place]) > 1] or places
            weight = _norm([weights[p] for p in wide], [scales[p] for p in wide])
            changes = [_apart(weights[p], new_weights[p]) for p in wide]
            change = _norm(changes, [scales[p] for p in wide])
            layer_gradients = [gradients[p] for p in places]
            wide_gradients = [gradient for p in wide if (gradient := gradients[p]) is not None]
            rows.append(
                [
                    _norm(layer_gradients, [scales[p] for p in places]),
                    float(np.mean([float((gradient == 0).mean()) for gradient in wide_gradients]))
                    if wide_gradients
                    else None,
                    float(
                        sum(
                            int((~np.isfinite(gradient)).sum())
                            for gradient in layer_gradients
                            if gradient is not None
                        )
                    )
                    if wide_gradients
                    else None,
                    weight,
                    change / weight if change is not None and weight else None,
                    self._directions.cosine(wide, [gradients[p] for p in wide]),
                ]
            )
        table = list(zip(*rows, strict=True))
        return list(layers), {key: list(column) for key, column in zip(_STATISTICS, table, strict=True)}

    def _note(self, name: Names, gradient: Values | None) -> None:
        word = "/".join(name)
        if gradient is None:
            return
        if bool((gradient == 0).all()):
            if word not in self.reached:
                self.without[word] = False
        else:
            self.reached.add(word)
            self.without.pop(word, None)

    def _note_changes(self, changes: Sequence[Values | None]) -> None:
        known_changes = [change for change in changes if change is not None]
        self.updates += bool(known_changes)
        self.changed = self.changed or any(bool(change.any()) for change in known_changes)


def _square(values: Values) -> float:
    return float(np.vdot(values.astype(np.float64), values.astype(np.float64)))


def _norm(values: Sequence[Values | None], scales: Sequence[int]) -> float | None:
    squares = [
        scale * _square(value) for value, scale in zip(values, scales, strict=True) if value is not None
    ]
    return sqrt(sum(squares)) if squares and len(squares) == len(values) else None


def _apart(before: Values | None, after: Values | None) -> Values | None:
    return None if before is None or after is None else after - before
