"""Gradients, weights, updates and activations of each layer, from what leaves a sampled step."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import Any

import numpy as np

from traindx.core.kinds import LayerShape, activation_by_name
from traindx.observe.arrays import Values
from traindx.observe.data.directions import GradientDirections
from traindx.observe.keras.names import LayerNames

Column = list[float | None]
_UPDATES = ("grad_norm", "grad_zero_share", "grad_nonfinite", "weight_norm", "update_ratio", "grad_cosine")
_ACTIVATIONS = ("zero_share", "dead_share", "saturated_share", "spread", "mean", "std", "nonfinite")
_DEAD_ROWS, _DEAD_SAMPLES, _DEAD_WINDOW = 256, 3, 10


class LayerUpdates:
    """What an optimizer did to each layer. Biases beside a matrix count for the gradient only."""

    def __init__(self, names: LayerNames) -> None:
        self._names = names
        self._directions = GradientDirections()
        self.samples = 0
        # Variables that never had a gradient; True where it was None rather than zero.
        self.without: dict[str, bool] = {}
        self.reached: set[str] = set()
        self.norm: float | None = None
        # The gradient norm of every variable of the last sample; None without a gradient.
        self.variables: dict[str, float | None] = {}

    def statistics(
        self, variables: Sequence[Any], numbers: Values, gradients: Sequence[Values]
    ) -> tuple[list[str], dict[str, Column]]:
        """LayerNames of layers, and for each statistic one value for each layer."""
        self.samples += 1
        layers: dict[str, list[int]] = {}
        for place, variable in enumerate(variables):
            layers.setdefault(self._names.layer_of(variable), []).append(place)
            self._note_gradient(self._names.variable(variable), numbers[place])
        rows = [self._of_layer(places, variables, numbers, gradients) for places in layers.values()]
        self.variables = {
            self._names.variable(variable): None if _is_none(row) else _root(float(row[0]))
            for variable, row in zip(variables, numbers, strict=True)
        }
        squares = [float(row[0]) for row in numbers if not _is_none(row)]
        self.norm = _root(sum(squares)) if squares else None
        table = list(zip(*rows, strict=True))
        return list(layers), {key: list(column) for key, column in zip(_UPDATES, table, strict=True)}

    def _note_gradient(self, name: str, row: Values) -> None:
        if _is_none(row) or row[0] == 0:
            if name not in self.reached:
                self.without[name] = self.without.get(name, True) and _is_none(row)
        else:
            self.reached.add(name)
            self.without.pop(name, None)

    def _of_layer(
        self, places: list[int], variables: Sequence[Any], numbers: Values, gradients: Sequence[Values]
    ) -> list[float | None]:
        wide = [place for place in places if len(variables[place].shape) > 1] or places
        with_gradient = [place for place in places if not _is_none(numbers[place])]
        weight = float(sum(numbers[place][3] for place in wide))
        change = float(sum(numbers[place][4] for place in wide))
        zeros = [float(numbers[place][1]) for place in wide if place in with_gradient]
        if not with_gradient:
            return [None, None, None, _root(weight), None, None]
        return [
            _root(float(sum(numbers[place][0] for place in with_gradient))),
            float(np.mean(zeros)) if zeros else None,
            float(sum(numbers[place][2] for place in with_gradient)),
            _root(weight),
            _root(change) / _root(weight) if weight > 0 else None,
            self._directions.cosine(
                [self._names.variable(variables[p]) for p in wide], [gradients[p] for p in wide]
            ),
        ]


def _root(square: float) -> float:
    return sqrt(square) if square >= 0 else square


def _is_none(row: Values) -> bool:
    """No gradient at all, rather than one of NaN."""
    return bool(np.isnan(row[0]) and np.isnan(row[2]))


class LayerOutputs:
    """What layers gave: dead are units that were silent for every row of the last samples."""

    def __init__(self, names: LayerNames) -> None:
        self._names = names
        self._silent: dict[str, tuple[Values, int]] = {}

    def statistics(
        self, layers: Sequence[Any], samples: Sequence[Values]
    ) -> tuple[list[str], dict[str, Column]]:
        """LayerNames, and for each statistic one value for each name.

        A layer with an activation of its own is there twice: as a layer, and as that activation.
        """
        rows: dict[str, list[float | None]] = {}
        with np.errstate(all="ignore"):
            for layer, sample in zip(layers, samples, strict=True):
                name, function = self._names.layer(layer), activation_of(layer)
                shape = activation_by_name(function) if function else None
                moments = _moments(sample)
                if not function or layer.weights:
                    rows.setdefault(name, [None, None, None, None, *moments])
                if shape is not None:
                    key = f"{name}/{function}" if layer.weights else name
                    if key not in rows:
                        rows[key] = [*self._of_units(key, sample, shape), _spread(sample), *moments]
        table = list(zip(*rows.values(), strict=True)) or [()] * len(_ACTIVATIONS)
        columns = {f"activation_{key}": list(column) for key, column in zip(_ACTIVATIONS, table, strict=True)}
        return list(rows), columns

    def _of_units(self, name: str, sample: Values, shape: LayerShape) -> list[float | None]:
        zero = dead = saturated = None
        if shape.zero is not None:
            silent = np.abs(sample) <= shape.zero
            zero = float(silent.mean())
            counts, samples = self._silent.get(name, (np.zeros(sample.shape[1], np.int64), 0))
            counts = counts if counts.size == sample.shape[1] else np.zeros(sample.shape[1], np.int64)
            counts, samples = (counts + 1) * silent.all(axis=0), samples + 1
            self._silent[name] = counts, samples
            enough = max(_DEAD_SAMPLES, -(-_DEAD_ROWS // max(1, sample.shape[0])))
            if samples >= enough:
                dead = float((counts >= min(samples, max(_DEAD_WINDOW, enough))).mean())
        if shape.saturates:
            saturated = float(((sample <= shape.low) | (sample >= shape.high)).mean())
        return [zero, dead, saturated]


def activation_of(layer: Any) -> str:
    """The name of the function that a layer ends with; empty for none."""
    function = getattr(layer, "activation", None)
    name = str(getattr(function, "__name__", "") or "")
    if name:
        return "" if name == "linear" else name
    kind = type(layer).__name__
    return kind.lower() if not layer.weights and activation_by_name(kind) is not None else ""


def _moments(sample: Values) -> list[float | None]:
    good = np.isfinite(sample)
    bad = 1 - float(good.mean())
    if bad:
        return [float(sample.mean()), float("nan"), bad]
    return [float(sample.mean(dtype=np.float64)), float(sample.std(dtype=np.float64)), 0.0]


def _spread(sample: Values) -> float | None:
    """How far each unit varies from row to row compared with its size: 0 is the same for every sample."""
    within, whole = float(sample.var(axis=0).sum()), float(np.square(sample).mean(axis=0).sum())
    return sqrt(max(within, 0.0) / whole) if 0 < whole < inf and within < inf else None
