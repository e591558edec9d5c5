"""The layers of a recorded model, as the detectors of layers ask for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.core.facts import Fact, facts, number
from traindx.core.kinds import kind_of_layer
from traindx.evidence.case import Case, Curve

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray


@dataclass(frozen=True)
class Matrix:
    """A layer with a weight matrix. `gain` is the root of (inputs times mean square of its first weights);
    `flat` says that they were all the same.
    """

    name: str
    elements: float
    fan_in: float
    gain: float | None
    flat: bool
    zero: bool


def matrices(case: Case) -> list[Matrix]:
    """Layers of the largest model that multiply by a matrix, nearest to the input first."""
    return [matrix for layer in case.inside.layer_list if (matrix := _matrix(layer)) is not None]


def all_matrices(case: Case) -> list[Matrix]:
    """Those of every model: an encoder and a decoder may be two."""
    layers = [layer for model in case.inside.models for layer in facts(model.get("layer_list"))]
    return [matrix for layer in layers if (matrix := _matrix(layer)) is not None]


def _matrix(layer: Fact) -> Matrix | None:
    shape, initial = layer.get("shape"), layer.get("init")
    if kind_of_layer(layer) == "embedding" or not isinstance(shape, list) or len(shape) < 2:
        return None
    sizes = [float(size) for size in shape if isinstance(size, int) and size >= 0]
    if len(sizes) != len(shape):
        return None
    fan_in, elements = prod(sizes[1:]), prod(sizes)
    init: Fact = initial if isinstance(initial, Mapping) else {}
    mean, std = number(init, "mean"), number(init, "std")
    if mean is None or std is None:
        return Matrix(str(layer.get("name", "")), elements, fan_in, None, False, False)
    # A mean that is not 0 adds up over all inputs instead of averaging out.
    gain = max(std * sqrt(fan_in), abs(mean) * fan_in)
    flat = std <= 1e-7 * abs(mean) and elements > 1
    return Matrix(str(layer.get("name", "")), elements, fan_in, gain, flat, flat and mean == 0)


def plain_stack(case: Case) -> bool:
    """Whether nothing holds the scale of the signal: no normalisation, no way around the layers."""
    normed = any(model.get("normalisation") for model in case.inside.models)
    return not normed and not number(case.inside.fact("graph"), "residuals")


def chain(case: Case, statistic: str, *, least: int) -> dict[str, Curve]:
    """A statistic of the layers with a matrix, in order; those sampled too seldom are left out.

    A frozen layer inside a module that trains parameters of its own (LoRA, adapters) stands for that module.
    A log that names no model: its numbered layers, in the order of their numbers.
    """
    curves = case.inside.layers(statistic)
    names = [matrix.name for matrix in matrices(case)] if case.inside.models else _numbered(curves)
    names = [name if name in curves else name.rpartition(".")[0] for name in names]
    return {name: curves[name] for name in names if name in curves and len(curves[name]) >= least}


def _numbered(names: Iterable[str]) -> list[str]:
    """Those with a number, by their numbers: `layers.2.weight` before `layers.10.weight`."""
    numbers = {name: [int(digits) for digits in re.findall(r"\d+", name)] for name in names}
    return sorted((name for name, digits in numbers.items() if digits), key=lambda name: numbers[name])


def settled(curve: Curve) -> FloatArray:
    """Its values without the first look, in which zero-initialised parts hold the rest back."""
    return curve.y[1:] if len(curve) > 1 else curve.y


def slopes_down(values: FloatArray) -> float:
    """Rank correlation with the place: 1 when every value is above the one before, -1 when below."""
    if values.size < 3 or float(np.ptp(values)) == 0:
        return 0.0
    ranks = np.argsort(np.argsort(values))
    return float(np.corrcoef(np.arange(values.size), ranks)[0, 1])


def typical_gradients(case: Case, curves: Mapping[str, Curve]) -> FloatArray:
    """The gradient of a typical weight of each layer, in the middle of the looks after the first."""
    elements = {matrix.name: matrix.elements for matrix in matrices(case)}
    return np.array(
        [float(np.median(settled(curve))) / elements.get(name, 1.0) ** 0.5 for name, curve in curves.items()]
    )


def fades(values: FloatArray, *, ratio: float, order: float, layers: int) -> bool:
    """Whether gradients shrink steadily towards the input; what ends in exact zeros has underflowed."""
    above = values[int((values > 0).argmax()) :] if values.any() else values[:0]
    if above.size < min(layers, values.size) or not (above > 0).all():
        return False
    early, late = ends_of(above)
    return early <= ratio * late and slopes_down(above) >= order


def ends_of(values: FloatArray) -> tuple[float, float]:
    """The typical value of the first and of the last third."""
    third = max(1, values.size // 3)
    return float(np.median(values[:third])), float(np.median(values[-third:]))


def modules_in_order(case: Case, statistic: str) -> Iterator[tuple[str, Curve]]:
    """Activations that were looked at, in the order in which they were called."""
    for name, curve in case.inside.layers(statistic).items():
        if len(curve):
            yield name, curve


def saturated(case: Case, *, least: int = 2) -> dict[str, float]:
    """The typical share of values in the flat region of each sigmoid, tanh or similar unit between layers.

    Without the last one where it follows the last layer: it may be an output.
    """
    shares = {
        name: float(np.median(curve.y))
        for name, curve in modules_in_order(case, "activation_saturated_share")
        if len(curve) >= least
    }
    if shares and _at_output(case, list(shares)[-1]):
        shares.popitem()
    return shares


def _at_output(case: Case, activation: str) -> bool:
    """Whether an activation is the last, and there are as many activations as layers."""
    weights = {matrix.name for matrix in matrices(case)}
    functions = [name for name, _ in modules_in_order(case, "activation_std") if name not in weights]
    return not weights or (len(functions) >= len(weights) and functions[-1] == activation)


def quoted(names: list[str], max_names: int = 3) -> str:
    """`a`, the input of `b` and 4 more."""
    phrases = [
        f"the input of `{name.removesuffix('.input')}`" if name.endswith(".input") else f"`{name}`"
        for name in names[:max_names]
    ]
    omitted = len(names) - max_names
    return ", ".join(phrases) + (f" and {omitted} more" if omitted > 0 else "")


def listed(*, shapes: list[list[int]], gain: float | None = 0.577, **fields: Any) -> list[dict[str, Any]]:
    """A `layer_list` of linear layers for sketches, named 0, 2, 4 ... as in a Sequential."""
    layers = []
    for place, shape in enumerate(shapes):
        fan_in = prod(shape[1:])
        init = {"mean": 0.0, "std": (gain or 0.0) / sqrt(fan_in), "fan_in": fan_in, "gain": gain or 0.0}
        layers.append({"name": str(2 * place), "type": "Linear", "shape": shape, "init": init, **fields})
    return layers


def model(shapes: list[list[int]], *, gain: float | None = 0.577, **fields: Any) -> dict[str, Any]:
    """The facts of one such model for sketches."""
    layers = listed(shapes=shapes, gain=gain)
    whole = {"class": "Sequential", "parameters": sum(prod(shape) for shape in shapes), "layer_list": layers}
    return {"models": [whole | {"normalisation": {}, "activations": {"ReLU": len(shapes) - 1}} | fields]}
