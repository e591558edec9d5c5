"""What modules, parameters and optimizers are called: by their place in the model, as the script holds them.

Only weak references to modules are kept, and none to tensors: torch refuses to swap or convert a parameter
that somebody else refers to.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import FrameType

import torch
from torch import nn

from traindx.observe.torch.module_parts import children_of, parameter_at, parameters_of
from traindx.observe.torch.roots import tops_above, unwrap, walk, wrapped_chain
from traindx.observe.torch.variables import variable_name

__all__ = ["Names", "variable_name"]


class Names:
    """Knows modules and parameters by name. A name once given stays."""

    def __init__(self) -> None:
        self.version = 0
        self.compiled = False
        self._roots: list[tuple[weakref.ref[nn.Module], str]] = []
        self._tops: dict[int, weakref.ref[nn.Module]] = {}
        self._modules: dict[int, tuple[weakref.ref[nn.Module], str]] = {}
        self._owners: dict[int, tuple[weakref.ref[nn.Module], str]] = {}
        self._loose: dict[tuple[int, torch.Size], str] = {}

    def refresh(self, optimizers: Iterable[torch.optim.Optimizer], frame: FrameType | None = None) -> bool:
        """Find the models whose parameters these optimizers hold. True when something new was found."""
        held = [
            one for optimizer in optimizers for group in optimizer.param_groups for one in group["params"]
        ]
        unknown = [one for one in held if self._owner(one) is None and _key(one) not in self._loose]
        if not unknown:
            return False
        new = self._add(tops_above([id(one) for one in unknown]), frame)
        for parameter in unknown:
            if self._owner(parameter) is None:
                self._name_loose(parameter, frame)
                new = True
        return new

    def saw(self, *modules: nn.Module) -> bool:
        """Models that were called. Those without parameters (losses, transforms) are no models."""
        return self._add([one for one in modules if next(one.parameters(), None) is not None], None)

    @property
    def roots(self) -> list[nn.Module]:
        """The models that are alive, without what wraps them."""
        return [module for ref, _ in self._roots if (module := ref()) is not None]

    def alone(self, module: nn.Module) -> bool:
        """Whether it is the only model there is."""
        return len(self._roots) == 1 and self.is_root(module)

    def is_root(self, module: nn.Module) -> bool:
        """Whether it is a model, or the wrapper of one."""
        ref = self._tops.get(id(module))
        return ref is not None and ref() is module

    def module_name(self, module: nn.Module) -> str | None:
        found = self._modules.get(id(module))
        if found is None or found[0]() is not module:
            return None
        return found[1] or type(module).__name__

    def layer_of(self, parameter: torch.Tensor) -> str:
        """The module that holds a parameter; for one at the top of a model, the parameter itself."""
        owner = self._owner(parameter)
        if owner is None:
            return self._name_of_loose(parameter)
        module, attribute = owner
        name = self._modules[id(module)][1]
        if not self.is_root(module):
            return name
        if not children_of(module):
            return name or type(module).__name__
        return f"{name}.{attribute}" if name else attribute

    def parameter_name(self, parameter: torch.Tensor) -> str:
        """Its full name, as `named_parameters` gives it but for wrappers."""
        owner = self._owner(parameter)
        if owner is None:
            return self._name_of_loose(parameter)
        name = self._modules[id(owner[0])][1]
        return f"{name}.{owner[1]}" if name else owner[1]

    def _owner(self, parameter: torch.Tensor) -> tuple[nn.Module, str] | None:
        found = self._owners.get(id(parameter))
        module = found[0]() if found is not None else None
        if found is None or module is None or parameter_at(module, found[1]) is not parameter:
            return None
        return module, found[1]

    def _add(self, tops: list[nn.Module], frame: FrameType | None) -> bool:
        tops = [top for top in tops if not self.is_root(top) and self.module_name(unwrap(top)) is None]
        self._roots = [(ref, prefix) for ref, prefix in self._roots if ref() is not None]
        taken = {prefix for _, prefix in self._roots}
        for top in tops:
            prefix = ""
            if len(tops) > 1 or taken:
                prefix = _free(_called(top, frame) or type(unwrap(top)).__name__, taken)
            taken.add(prefix)
            self._roots.append((weakref.ref(unwrap(top)), prefix))
            for one in wrapped_chain(top):
                self._tops[id(one)] = weakref.ref(one)
                self.compiled = self.compiled or type(one).__name__ == "OptimizedModule"
            self._learn(top, prefix)
        self.version += bool(tops)
        return bool(tops)

    def _learn(self, top: nn.Module, prefix: str) -> None:
        for module, name in walk(top, prefix):
            if self.module_name(module) is None:
                self._modules[id(module)] = (weakref.ref(module), name)
            for attribute, parameter in parameters_of(module):
                if self._owner(parameter) is None:
                    self._owners[id(parameter)] = (weakref.ref(module), attribute)

    def _name_loose(self, parameter: torch.Tensor, frame: FrameType | None) -> None:
        name = variable_name(parameter, frame)
        self._loose[_key(parameter)] = name or f"parameter{len(self._loose)} ({_shape(parameter)})"
        self.version += 1

    def _name_of_loose(self, parameter: torch.Tensor) -> str:
        found = self._loose.get(_key(parameter))
        return found or f"parameter ({_shape(parameter)})"


def _key(parameter: torch.Tensor) -> tuple[int, torch.Size]:
    """What tells a parameter of no module from others, as long as it is there."""
    return id(parameter), parameter.shape


def _shape(parameter: torch.Tensor) -> str:
    return "x".join(str(size) for size in parameter.shape) or "scalar"


def _called(top: nn.Module, frame: FrameType | None) -> str | None:
    """The variable of the script that holds a model, wrapped or not."""
    return next((name for one in wrapped_chain(top) if (name := variable_name(one, frame))), None)


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}{number}"
    return free
