"""Copies of a trained network that no optimizer holds: target networks, averages, and how they follow it."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from traindx.observe.torch.finite import readable
from traindx.observe.torch.naming import Names, variable_name
from traindx.observe.torch.roots import parameter_ids, walk

_MOST, _SEARCHES = 4, 8
_TENSORS, _ELEMENTS = 4, 32
_MODULES = 2000
_LEAST_WEIGHTS = 8


class Follower:
    """A copy and the network it has the shape of, by a few of their weights over the sampled steps."""

    def __init__(self, copy: nn.Module, source: nn.Module, name: str, like: str) -> None:
        self._copy, self._source = weakref.ref(copy), weakref.ref(source)
        self.facts: dict[str, Any] = {"name": name, "like": like, "samples": 0, "changes": 0, "equal": 0}
        self._last: torch.Tensor | None = None
        self._first: torch.Tensor | None = None

    def sample(self) -> None:
        """Compare both with each other and with what they were."""
        copy, source = self._copy(), self._source()
        if copy is None or source is None:
            return
        weights, source_weights = _weight_sample(copy), _weight_sample(source)
        if weights is None or source_weights is None or weights.shape != source_weights.shape:
            return
        facts = self.facts
        facts["samples"] += 1
        facts["equal"] += int(torch.equal(weights, source_weights))
        if self._last is None or self._first is None:
            self._first = source_weights
            facts["started_equal"] = _apart(weights, source_weights) < 0.02
        else:
            facts["changes"] += int(not torch.equal(weights, self._last))
            facts["source_moved"] = round(_apart(source_weights, self._first), 5)
        self._last = weights


class Followers:
    """Finds the copies once, when the optimizers are known, and samples them now and then."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._followers: list[Follower] = []
        self._versions: set[tuple[int, int]] = set()
        self._gradient_free: list[nn.Module] = []

    def sample(
        self, optimizers: Iterable[torch.optim.Optimizer], gradient_free: Sequence[weakref.ref[nn.Module]]
    ) -> None:
        """On a sampled step; `gradient_free` were called without gradients."""
        version = (self._names.version, len(gradient_free))
        if version not in self._versions and len(self._versions) < _SEARCHES:
            self._versions.add(version)
            self._gradient_free = [module for ref in gradient_free if (module := ref()) is not None]
            self._find(optimizers)
            self._gradient_free = []
        for follower in self._followers:
            follower.sample()

    def record(self) -> list[dict[str, Any]]:
        return [follower.facts for follower in self._followers if follower.facts["samples"] > 1]

    def _find(self, optimizers: Iterable[torch.optim.Optimizer]) -> None:
        held_ids = parameter_ids(*optimizers)
        trained: dict[tuple[Any, ...], tuple[nn.Module, str]] = {}
        loose: list[tuple[tuple[Any, ...], nn.Module, str]] = []
        for module, name in self._modules():
            parameters = list(module.parameters())
            if len(parameters) < 2 or sum(parameter.numel() for parameter in parameters) < _LEAST_WEIGHTS:
                continue
            key = (type(module).__name__, *(tuple(parameter.shape) for parameter in parameters))
            inside = sum(id(parameter) in held_ids for parameter in parameters)
            if inside == len(parameters):
                trained.setdefault(key, (module, name))
            elif not inside:
                loose.append((key, module, name))
        follower_names = [follower.facts["name"] for follower in self._followers]
        for key, module, name in loose:
            below = any(name == outer or name.startswith(f"{outer}.") for outer in follower_names)
            if key in trained and not below and len(self._followers) < _MOST:
                source, like = trained[key]
                self._followers.append(Follower(module, source, name, like))
                follower_names.append(name)

    def _modules(self) -> Iterable[tuple[nn.Module, str]]:
        """Every model and its parts, outer ones first."""
        count = 0
        for root in [*self._names.roots, *self._gradient_free]:
            is_unnamed = self._names.module_name(root) is None
            root_name = (variable_name(root) or type(root).__name__) if is_unnamed else ""
            for module, inner in walk(root, root_name):
                count += 1
                if count > _MODULES:
                    return
                yield (
                    module,
                    inner if is_unnamed else self._names.module_name(module) or type(module).__name__,
                )


def _weight_sample(module: nn.Module) -> torch.Tensor | None:
    """A few weights of a few of its parameters, the last ones too."""
    parameters = [parameter for parameter in module.parameters() if readable(parameter) is not None]
    chosen = parameters[:: max(1, len(parameters) // _TENSORS)]
    flat = [parameter.detach().reshape(-1) for parameter in chosen]
    parts = [values[:: max(1, values.numel() // _ELEMENTS)][:_ELEMENTS].float().cpu() for values in flat]
    return torch.cat(parts) if parts else None


def _apart(weights: torch.Tensor, reference: torch.Tensor) -> float:
    scale = float(reference.abs().mean())
    return float((weights - reference).abs().mean()) / scale if scale else 0.0
