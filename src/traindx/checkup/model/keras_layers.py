"""Models of Keras on PyTorch: the names of their parameters, and what their layers give."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_HELD = "_torch_params."

Saw = Callable[[str, Any, Any], None]


def named_parameters(model: Any) -> list[tuple[str, Any]]:
    """The trained parameters; those of Keras by their layer (`dense.kernel`), not by what holds them."""
    return [
        (name.rpartition(_HELD)[2].replace("/", ".") if _HELD in name else name, parameter)
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    ]


@contextmanager
def layers_seen(model: Any, saw: Saw) -> Iterator[None]:
    """Calls `saw` with name, activation and output of each layer: those of Keras run no hooks of PyTorch."""
    keras = sys.modules.get("keras")
    owner = getattr(getattr(keras, "layers", None), "Layer", None)
    if owner is None or not isinstance(model, owner):
        yield
        return
    from traindx.core.kinds import activation_by_name
    from traindx.observe.keras.layer_statistics import activation_of

    theirs = owner.__call__

    def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
        output = theirs(layer, *args, **kwargs)
        function = activation_of(layer)
        if not getattr(layer, "_layers", None) and (function or layer.weights):
            is_image = getattr(output, "ndim", 0) > 3
            last = is_image and getattr(layer, "data_format", "") != "channels_first"
            shape = activation_by_name(function) if function else None
            saw(layer.name, shape, output.movedim(-1, 1) if last else output)
        return output

    owner.__call__ = call
    try:
        yield
    finally:
        owner.__call__ = theirs
