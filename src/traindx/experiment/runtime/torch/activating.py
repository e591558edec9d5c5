"""Activations, as modules and as functions: which are hidden, and another in their place."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.autograd.graph import Node

from traindx.experiment.runtime.torch.tracing import calling_frame

if TYPE_CHECKING:
    from traindx.experiment.runtime.torch.tracing import PassGraph

Place = tuple[int, Any, int]
_KINDS = {
    "relu": ("F.relu", "F.relu_", "torch.relu", "torch.relu_", "Tensor.relu", "Tensor.relu_"),
    "leaky_relu": ("F.leaky_relu",),
    "elu": ("F.elu",),
    "selu": ("F.selu",),
    "gelu": ("F.gelu",),
    "silu": ("F.silu",),
    "softplus": ("F.softplus",),
    "relu6": ("F.relu6",),
    "hardtanh": ("F.hardtanh",),
    "sigmoid": ("F.sigmoid", "torch.sigmoid", "Tensor.sigmoid", "Tensor.sigmoid_"),
    "tanh": ("F.tanh", "torch.tanh", "Tensor.tanh", "Tensor.tanh_"),
}
FUNCTIONS = {path: kind for kind, paths in _KINDS.items() for path in paths}
_NEW: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": torch.relu,
    "leaky_relu": lambda x: torch._C._nn.leaky_relu(x, 0.01),
    "gelu": lambda x: torch._C._nn.gelu(x),
    "silu": lambda x: torch._C._nn.silu(x),
    "elu": lambda x: torch._C._nn.elu(x),
    "tanh": torch.tanh,
}
_MODULES: dict[str, tuple[type[nn.Module], dict[str, object]]] = {
    "relu": (nn.ReLU, {"inplace": False}),
    "leaky_relu": (nn.LeakyReLU, {"negative_slope": 0.01, "inplace": False}),
    "gelu": (nn.GELU, {"approximate": "none"}),
    "silu": (nn.SiLU, {"inplace": False}),
    "elu": (nn.ELU, {"alpha": 1.0, "inplace": False}),
    "tanh": (nn.Tanh, {}),
}
# Rectifiers that are multiplied are what is gated, not the gate.
_GATES = ("sigmoid", "tanh", "hardtanh", "softplus")
_PLAIN = (nn.ReLU, nn.LeakyReLU, nn.ELU, nn.SELU, nn.GELU, nn.SiLU, nn.Softplus, nn.ReLU6, nn.Hardtanh)
_SWAPPED = (*_PLAIN, nn.Sigmoid, nn.Tanh)


class Activations:
    """Activations as one extra pass shows them, by their calling line; hidden ones are changed after it.

    `change_module(module)` changes a module once; `change_call(owner, compute, input)` gives the result of a
    function instead of `compute()`, where `owner` is the module that calls it.
    """

    def __init__(
        self,
        change_module: Callable[[nn.Module], None],
        change_call: Callable[[nn.Module | None, Callable[[], torch.Tensor], torch.Tensor], torch.Tensor],
    ) -> None:
        self._change_module = change_module
        self._change_call = change_call
        self._watching = self._inside = False
        self._calls_by_place: dict[Place, list[tuple[str, Node]]] = {}
        self._hidden: dict[Place, nn.Module | None] = {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        self._watching, self._calls_by_place = True, {}
        try:
            yield
        finally:
            self._watching = False

    def instead(self, kind: str) -> Callable[..., Any]:
        """What is called in place of an activation function."""

        def function(original: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
            if self._inside or not isinstance(input, torch.Tensor):
                return original(input, *args, **kwargs)
            place = calling_frame()
            self._inside = True
            try:
                if place in self._hidden:
                    owner = self._hidden[place]
                    return self._change_call(owner, lambda: original(input, *args, **kwargs), input)
                result = original(input, *args, **kwargs)
            finally:
                self._inside = False
            if self._watching and result.grad_fn is not None:
                self._calls_by_place.setdefault(place, []).append((kind, result.grad_fn))
            return result

        return function

    def settle(self, root: nn.Module, trace: PassGraph, but: str = "") -> Counter[str]:
        """Decide which are hidden, and change them, except those of the kind `but`; how many of each kind."""
        hidden = {
            place: calls
            for place, calls in self._calls_by_place.items()
            if calls[0][0] != but
            and all(trace.is_hidden(node) for _, node in calls)
            and not (calls[0][0] in _GATES and any(trace.is_gate(node) for _, node in calls))
        }
        modules = {id(module): module for module in root.modules()}
        for place in hidden:
            module = modules.get(place[0])
            if type(module) in _SWAPPED and module is not None:
                self._change_module(module)
            else:
                self._hidden[place] = module
                _no_fast_path(module)
        self._calls_by_place = {}
        return Counter(calls[0][0] for calls in hidden.values())


def swapped_for(to: str) -> Activations:
    """Another activation in the place of the hidden ones."""
    return Activations(lambda module: _become(module, to), lambda _, __, input: _NEW[to](input))


def followed_by_dropout(share: float) -> Activations:
    """Dropout after the hidden ones, in training; its random numbers are its own."""
    generators: dict[torch.device, torch.Generator] = {}

    def dropped(owner: nn.Module | None, output: torch.Tensor) -> torch.Tensor:
        if not torch.is_grad_enabled() or (owner is not None and not owner.training):
            return output
        if output.device not in generators:
            generators[output.device] = torch.Generator(output.device).manual_seed(0)
        mask = torch.empty_like(output).bernoulli_(1 - share, generator=generators[output.device])
        return output * mask / (1 - share)

    def hooked(module: nn.Module) -> None:
        module.register_forward_hook(lambda owner, _, output: dropped(owner, output))

    return Activations(hooked, lambda owner, compute, _: dropped(owner, compute()))


def _become(module: nn.Module, to: str) -> None:
    """Change the module in place, so that every reference to it has the new activation."""
    kind, settings = _MODULES[to]
    for name in "inplace negative_slope alpha min_val max_val beta threshold approximate".split():
        vars(module).pop(name, None)
    module.__class__ = kind
    vars(module).update(settings)


def _no_fast_path(module: nn.Module | None) -> None:
    """Torch's own transformer layers use another way without gradients, which knows two activations."""
    if isinstance(module, nn.TransformerEncoderLayer):
        module.activation_relu_or_gelu = 0
