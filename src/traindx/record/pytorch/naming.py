"""What modules, parameters and optimizers are called: by their place in the model, as the script holds them.

Only weak references to modules are kept, and none to tensors: torch refuses to swap or convert a parameter
that somebody else refers to.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator
from types import FrameType

import torch
from torch import nn

from traindx.record.pytorch.variables import variable_name

__all__ = ["Names", "variable_name"]

# Modules that only wrap another one, and the attribute they hold it by.
_WRAPPERS = {
    "OptimizedModule": "_orig_mod",
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "ActivationWrapper": "_checkpoint_wrapped_module",
    "DeepSpeedEngine": "module",
    "_FabricModule": "_forward_module",
}
# Graphs that torch made of a model hold its parts like a parent would.
_TRACED = ("torch.fx", "torch._dynamo", "torch._inductor", "torch._functorch", "torch.export")


class Names:
    """Knows modules and parameters by name. A name once given stays."""

    def __init__(self) -> None:
        self.version = 0
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
        new = self._add(_tops_above([id(one) for one in unknown]), frame)
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
        if not module._modules:
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
        if found is None or module is None or module._parameters.get(found[1]) is not parameter:
            return None
        return module, found[1]

    def _add(self, tops: list[nn.Module], frame: FrameType | None) -> bool:
        tops = [top for top in tops if not self.is_root(top) and self.module_name(_unwrap(top)) is None]
        self._roots = [(ref, prefix) for ref, prefix in self._roots if ref() is not None]
        taken = {prefix for _, prefix in self._roots}
        for top in tops:
            prefix = ""
            if len(tops) > 1 or taken:
                prefix = _free(_called(top, frame) or type(_unwrap(top)).__name__, taken)
            taken.add(prefix)
            self._roots.append((weakref.ref(_unwrap(top)), prefix))
            for one in _wrapped_chain(top):
                self._tops[id(one)] = weakref.ref(one)
            self._learn(top, prefix)
        self.version += bool(tops)
        return bool(tops)

    def _learn(self, top: nn.Module, prefix: str) -> None:
        for module, name in _walk(top, prefix):
            if self.module_name(module) is None:
                self._modules[id(module)] = (weakref.ref(module), name)
            for attribute, parameter in module._parameters.items():
                if parameter is not None and self._owner(parameter) is None:
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


def _wrapped_by(module: nn.Module) -> nn.Module | None:
    """What a wrapper holds; None for a module that is no wrapper."""
    for base in type(module).__mro__[:-2]:
        attribute = _WRAPPERS.get(base.__name__)
        inner = module._modules.get(attribute) if attribute else None
        if inner is not None:
            return inner
    return None


def _wrapped_chain(module: nn.Module) -> Iterator[nn.Module]:
    inner: nn.Module | None = module
    while inner is not None:
        yield inner
        inner = _wrapped_by(inner)


def _unwrap(module: nn.Module) -> nn.Module:
    *_, last = _wrapped_chain(module)
    return last


def _walk(top: nn.Module, prefix: str) -> Iterator[tuple[nn.Module, str]]:
    """Every module once with its name. Wrappers have no name; parametrizations have that of their layer."""
    todo = [(top, prefix, False)]
    seen: set[int] = set()
    while todo:
        module, name, nameless = todo.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield module, name
        wrapped = _wrapped_by(module)
        for attribute, child in reversed(list(module._modules.items())):
            if child is not None:
                inside = nameless or attribute == "parametrizations"
                same = inside or child is wrapped
                todo.append((child, name if same else f"{name}.{attribute}" if name else attribute, inside))


def _tops_above(wanted: list[int]) -> list[nn.Module]:
    """The outermost modules alive that hold any of the parameters, in the order of the parameters."""
    # `issubclass` of the type: `isinstance` would ask lazy proxies what they stand for and wake them.
    modules = [
        one for one in gc.get_objects() if issubclass(type(one), nn.Module) and "_modules" in vars(one)
    ]
    parents: dict[int, list[nn.Module]] = {}
    for module in modules:
        for child in module._modules.values():
            if child is not None:
                parents.setdefault(id(child), []).append(module)
    order = {key: number for number, key in enumerate(wanted)}
    owners = [one for one in modules if any(id(p) in order for p in one._parameters.values())]
    tops: dict[int, nn.Module] = {}
    seen: set[int] = set()
    while owners:
        module = owners.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        above = parents.get(id(module), [])
        owners += above
        if not above:
            tops[id(module)] = module
    written = [one for one in tops.values() if not type(one).__module__.startswith(_TRACED)]
    found = written if order.keys() & _held(tops.values()) <= _held(written) else list(tops.values())
    return sorted(found, key=lambda top: min(order[key] for key in _held([top]) & order.keys()))


def _held(modules: Iterable[nn.Module]) -> set[int]:
    return {id(parameter) for module in modules for parameter in module.parameters()}


def _called(top: nn.Module, frame: FrameType | None) -> str | None:
    """The variable of the script that holds a model, wrapped or not."""
    return next((name for one in _wrapped_chain(top) if (name := variable_name(one, frame))), None)


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}{number}"
    return free
