"""The words for where a NaN or inf came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traindx.observe.name_lists import listed

_SHOWN = 3


def place(layer: str, layer_before: str, layer_after: str) -> str:
    """Where an operation stands among the layers."""
    return f"in layer {layer}" if layer else between(layer_before, layer_after)


def between(layer_before: str, layer_after: str) -> str:
    if layer_before and layer_after:
        return f"between layers {layer_before} and {layer_after}"
    if layer_before:
        return f"between layer {layer_before} and the loss"
    return f"before layer {layer_after}" if layer_after else "between the input and the loss"


def handed(constant: str, operation: str, *, in_layer: bool) -> str:
    """What came in from outside, by the name of the argument that held it."""
    argument = {"target": "the target", "weight": "the class weight"}.get(constant)
    if argument:
        return f"{argument} of {operation} is not finite"
    if in_layer or constant in ("input", "mat1", "variable"):
        return "the input is not finite"
    return f"the tensor without gradient (data, target or mask) in {operation} is not finite"


def counted(numbers: Mapping[str, object]) -> str:
    """How much of a tensor is not finite, and in which rows and features, when not in all."""
    text = f"{numbers['nonfinite']} of {numbers['count']} values"
    for name in ("rows", "features"):
        places, bad, every = numbers.get(name), numbers.get(f"{name}_bad"), numbers.get(f"{name}_all")
        if isinstance(places, list) and places and bad != every:
            text += f", in {bad} of {every} {name} (first: {places[0]})"
    return text


def ranged(numbers: Mapping[str, object]) -> str:
    """From where to where the values of a tensor go."""
    parts = [f"from {numbers['min']:.4g} to {numbers['max']:.4g}"] if "min" in numbers else []
    for key, word in (("zeros", "zero"), ("nonfinite", "not finite")):
        if numbers.get(key):
            parts.append(f"{numbers[key]} of {numbers['count']} {word}")
    return ", ".join(parts)


def share(bad: Sequence[str], every: Sequence[str]) -> str:
    """`2 of 5 layers (fc1, fc2)`."""
    if len(bad) == len(every) > 1:
        return "all layers"
    return f"{len(bad)} of {len(every)} layers ({listed(bad, _SHOWN)})"
