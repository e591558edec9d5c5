"""Which modules are models: the outermost ones that hold the parameters, without what wraps them."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

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


def _wrapped_by(module: nn.Module) -> nn.Module | None:
    """What a wrapper holds; None for a module that is no wrapper."""
    for base in type(module).__mro__[:-2]:
        attribute = _WRAPPERS.get(base.__name__)
        inner = child_at(module, attribute) if attribute else None
        if inner is not None:
            return inner
    return None


def wrapped_chain(module: nn.Module) -> Iterator[nn.Module]:
    inner: nn.Module | None = module
    while inner is not None:
        yield inner
        inner = _wrapped_by(inner)


def unwrap(module: nn.Module) -> nn.Module:
    *_, last = wrapped_chain(module)
    return last


def walk(top: nn.Module, prefix: str) -> Iterator[tuple[nn.Module, str]]:
    """Every module once with its name. Wrappers have no name; parametrizations have that of their layer."""
    todo = [(top, prefix, False)]
    visited: set[int] = set()
    while todo:
        module, name, nameless = todo.pop()
        if id(module) in visited:
            continue
        visited.add(id(module))
        yield module, name
        wrapped = _wrapped_by(module)
        for attribute, child in reversed(children_of(module)):
            inside = nameless or attribute == "parametrizations"
            keeps_name = inside or child is wrapped
            todo.append((child, name if keeps_name else f"{name}.{attribute}" if name else attribute, inside))


def tops_above(parameter_ids: list[int]) -> list[nn.Module]:
    """The outermost modules alive that hold any of the parameters, in the order of the parameters."""
    # `issubclass` of the type: `isinstance` would ask lazy proxies what they stand for and wake them.
    modules = [
        item for item in gc.get_objects() if issubclass(type(item), nn.Module) and "_modules" in vars(item)
    ]
    parents: dict[int, list[nn.Module]] = {}
    for module in modules:
        for _, child in children_of(module):
            parents.setdefault(id(child), []).append(module)
    order = {key: number for number, key in enumerate(parameter_ids)}
    owners = [
        module for module in modules if any(id(parameter) in order for _, parameter in parameters_of(module))
    ]
    tops: dict[int, nn.Module] = {}
    visited: set[int] = set()
    while owners:
        module = owners.pop()
        if id(module) in visited:
            continue
        visited.add(id(module))
        above = parents.get(id(module), [])
        owners += above
        if not above:
            tops[id(module)] = module
    return _chosen(list(tops.values()), order)


def _chosen(tops: list[nn.Module], order: Mapping[int, int]) -> list[nn.Module]:
    """Of tops that hold the same parameters, the one that is most likely trained.

    A scripted model comes before its source, large before small, graphs that torch made of a model last.
    """
    parameters = {id(top): order.keys() & {id(parameter) for parameter in top.parameters()} for top in tops}
    traced = [type(top).__module__.startswith(_TRACED) for top in tops]
    ranked = sorted(
        zip(traced, tops, strict=True),
        key=lambda pair: (
            pair[0],
            not isinstance(pair[1], torch.jit.ScriptModule),
            -len(parameters[id(pair[1])]),
        ),
    )
    chosen: list[nn.Module] = []
    covered: set[int] = set()
    for _, top in ranked:
        if not parameters[id(top)] <= covered:
            chosen.append(top)
            covered |= parameters[id(top)]
    return sorted(chosen, key=lambda top: min(order[key] for key in parameters[id(top)]))


def children_of(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """The modules right inside it, with their attribute names."""
    modules: Any = module._modules
    return [(name, child) for name, child in list(modules.items()) if child is not None]


def parameters_of(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """The parameters that are its own, with their attribute names."""
    parameters: Any = module._parameters
    return [(name, parameter) for name, parameter in list(parameters.items()) if parameter is not None]


class HandUpdate:
    """Takes the place of an optimizer; it holds its parameters only while they are sampled."""

    def __init__(self) -> None:
        self.param_groups: list[dict[str, Any]] = [{"params": []}]

    def hold(self, parameters: list[torch.Tensor]) -> None:
        self.param_groups = [{"params": parameters}]


def optimizer_parameters(optimizer: torch.optim.Optimizer | HandUpdate) -> list[torch.Tensor]:
    """All parameters of an optimizer, never kept: torch will not swap one that somebody else holds."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def parameter_ids(*optimizers: torch.optim.Optimizer | HandUpdate) -> set[int]:
    """The parameters of optimizers, by identity."""
    return {id(parameter) for optimizer in optimizers for parameter in optimizer_parameters(optimizer)}


def is_trained_by(module: nn.Module, optimizer: torch.optim.Optimizer) -> bool:
    """Whether an optimizer holds a parameter of a module."""
    trained_ids = parameter_ids(optimizer)
    return any(id(parameter) in trained_ids for parameter in module.parameters())


def child_at(module: nn.Module, name: str) -> nn.Module | None:
    return dict(children_of(module)).get(name)


def parameter_at(module: nn.Module, name: str) -> torch.Tensor | None:
    return dict(parameters_of(module)).get(name)
