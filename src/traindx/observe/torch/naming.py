"""What modules, parameters and optimizers are called: by their place in the model, as the script holds them.

Only weak references to modules are kept, and none to tensors: torch refuses to swap or convert a parameter
that somebody else refers to.
"""

from __future__ import annotations

import inspect
import os
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn

from traindx.observe.arrays import shape_text
from traindx.observe.torch.roots import (
    HandUpdate,
    children_of,
    optimizer_parameters,
    parameter_at,
    parameters_of,
    tops_above,
    unwrap,
    walk,
    wrapped_chain,
)


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

    def refresh(
        self, optimizers: Iterable[torch.optim.Optimizer | HandUpdate], frame: FrameType | None = None
    ) -> bool:
        """Find the models whose parameters these optimizers hold. True when something new was found."""
        parameters = [parameter for optimizer in optimizers for parameter in optimizer_parameters(optimizer)]
        unknown = [
            parameter
            for parameter in parameters
            if self._owner(parameter) is None and _key(parameter) not in self._loose
        ]
        if not unknown:
            return False
        new = self._add(tops_above([id(parameter) for parameter in unknown]), frame)
        for parameter in unknown:
            if self._owner(parameter) is None:
                self._name_loose(parameter, frame)
                new = True
        return new

    def saw(self, *modules: nn.Module) -> bool:
        """Models that were called. Those without parameters (losses, transforms) are no models."""
        return self._add([module for module in modules if next(module.parameters(), None) is not None], None)

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
        entry = self._modules.get(id(module))
        if entry is None or entry[0]() is not module:
            return None
        return entry[1] or type(module).__name__

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
        entry = self._owners.get(id(parameter))
        module = entry[0]() if entry is not None else None
        if entry is None or module is None or parameter_at(module, entry[1]) is not parameter:
            return None
        return module, entry[1]

    def _add(self, tops: list[nn.Module], frame: FrameType | None) -> bool:
        tops = [top for top in tops if not self.is_root(top) and self.module_name(unwrap(top)) is None]
        self._roots = [(ref, prefix) for ref, prefix in self._roots if ref() is not None]
        prefixes = {prefix for _, prefix in self._roots}
        for top in tops:
            prefix = ""
            if len(tops) > 1 or prefixes:
                prefix = _free(_script_variable(top, frame) or type(unwrap(top)).__name__, prefixes)
            prefixes.add(prefix)
            self._roots.append((weakref.ref(unwrap(top)), prefix))
            for module in wrapped_chain(top):
                self._tops[id(module)] = weakref.ref(module)
                self.compiled = self.compiled or type(module).__name__ == "OptimizedModule"
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
        self._loose[_key(parameter)] = name or f"parameter{len(self._loose)} ({shape_text(parameter.shape)})"
        self.version += 1

    def _name_of_loose(self, parameter: torch.Tensor) -> str:
        name = self._loose.get(_key(parameter))
        return name or f"parameter ({shape_text(parameter.shape)})"


def _key(parameter: torch.Tensor) -> tuple[int, torch.Size]:
    """What identifies a parameter of no module, as long as it is there."""
    return id(parameter), parameter.shape


def _script_variable(top: nn.Module, frame: FrameType | None) -> str | None:
    """The variable of the script that holds a model, wrapped or not."""
    return next((name for module in wrapped_chain(top) if (name := variable_name(module, frame))), None)


def _free(name: str, names_in_use: set[str]) -> str:
    number, free = 1, name
    while free in names_in_use:
        number += 1
        free = f"{name}{number}"
    return free


_HERE = Path(__file__).parents[2]
_ASIDE = (f"{Path(torch.__file__).parent}{os.sep}", f"{_HERE}{os.sep}")
_VAGUE = frozenset({"self", "cls", "args", "kwargs", "module", "obj"})
_MANY = 64
# Frameworks that run the loop, and what they wrap an optimizer in.
_TRAINERS = frozenset({"lightning", "pytorch_lightning", "lightning_fabric", "accelerate", "transformers"})
_WRAPPERS = ("Lightning", "Fabric", "_Fabric", "Accelerated")


def variable_name(target: object, frame: FrameType | None = None) -> str | None:
    """The name under which a script holds this very object, seen from a frame and its callers.

    A variable anywhere is better than a place in a list, a dict or an attribute, and that is better than a
    name that says nothing.
    """
    scopes = _scopes(frame or sys._getframe(1))
    vague = None
    for scope in scopes:
        for name, value in list(scope.items()):
            if _is(value, target) and not name.startswith("_"):
                if name not in _VAGUE:
                    return name
                vague = vague or name
    return next((name for scope in scopes for name in _places(scope, target)), vague)


def _scopes(frame: FrameType) -> list[Mapping[str, Any]]:
    """The variables of a function and its callers, and of the modules they are in; those of trainers last."""
    script_scopes: list[Mapping[str, Any]] = []
    of_trainers: list[Mapping[str, Any]] = []
    modules: set[int] = set()
    current: FrameType | None = frame
    while current is not None:
        if not current.f_code.co_filename.startswith(_ASIDE):
            scopes = of_trainers if _of_trainer(current.f_globals.get("__name__")) else script_scopes
            scopes.append(frame_variables(current))
            if id(current.f_globals) not in modules:
                modules.add(id(current.f_globals))
                scopes.append(current.f_globals)
        current = current.f_back
    return script_scopes + of_trainers


def _of_trainer(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in _TRAINERS


def _is(value: object, target: object) -> bool:
    """Whether a value is the wanted object, or a trainer's wrapper around it."""
    if value is target:
        return True
    wrapper = _of_trainer(type(value).__module__) and type(value).__name__.startswith(_WRAPPERS)
    return wrapper and any(attribute is target for attribute in _attributes(value).values())


def frame_variables(frame: FrameType) -> Mapping[str, Any]:
    """The variables of a function, without leaving a trace in it.

    Before Python 3.13 asking for them leaves a copy in the frame that keeps every tensor of that moment
    alive, and is the very mapping that `locals()` gave the function: a function that called it is let be.
    """
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return {}
    if sys.version_info >= (3, 13):
        return frame.f_locals
    if not {"locals", "vars", "dir", "eval", "exec"}.isdisjoint(frame.f_code.co_names):
        return {}
    variables = frame.f_locals
    copied = dict(variables)
    variables.clear()
    return copied


def _places(variables: Mapping[str, Any], target: object) -> Iterator[str]:
    for name, value in list(variables.items()):
        kind = type(value)
        if name.startswith("__"):
            continue
        if kind in (list, tuple) and len(value) <= _MANY:
            yield from (f"{name}[{number}]" for number, item in enumerate(value) if _is(item, target))
        elif kind is dict and len(value) <= _MANY:
            yield from (
                f"{name}.{key}" for key, item in list(value.items()) if item is target and type(key) is str
            )
        elif (name == "self" or kind.__module__ == "__main__") and not issubclass(kind, type):
            instance = _attributes(value)
            children = instance.get("_modules")
            for attributes in (instance, children if type(children) is dict else {}):
                yield from (key for key, item in list(attributes.items()) if item is target)


def _attributes(value: object) -> dict[str, Any]:
    """What an object holds, without running code of its own."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return attributes if type(attributes) is dict else {}
