"""Copies of a trained network that no optimizer holds: target networks, averages. Do they follow it?"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from traindx.observe.torch.finite import readable
from traindx.observe.torch.naming import Names, variable_name
from traindx.observe.torch.roots import optimizer_parameters, walk

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
        mine, other = _some(copy), _some(source)
        if mine is None or other is None or mine.shape != other.shape:
            return
        facts = self.facts
        facts["samples"] += 1
        facts["equal"] += int(torch.equal(mine, other))
        if self._last is None or self._first is None:
            self._first = other
            facts["started_equal"] = _apart(mine, other) < 0.02
        else:
            facts["changes"] += int(not torch.equal(mine, self._last))
            facts["source_moved"] = round(_apart(other, self._first), 5)
        self._last = mine


class Followers:
    """Finds the copies once, when the optimizers are known, and samples them now and then."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: list[Follower] = []
        self._versions: set[tuple[int, int]] = set()
        self._beside: list[nn.Module] = []

    def sample(
        self, optimizers: Iterable[torch.optim.Optimizer], beside: Sequence[weakref.ref[nn.Module]]
    ) -> None:
        """On a sampled step; `beside` were called without gradients."""
        version = (self._names.version, len(beside))
        if version not in self._versions and len(self._versions) < _SEARCHES:
            self._versions.add(version)
            self._beside = [one for ref in beside if (one := ref()) is not None]
            self._find(optimizers)
            self._beside = []
        for follower in self._known:
            follower.sample()

    def record(self) -> list[dict[str, Any]]:
        return [one.facts for one in self._known if one.facts["samples"] > 1]

    def _find(self, optimizers: Iterable[torch.optim.Optimizer]) -> None:
        held = {id(one) for optimizer in optimizers for one in optimizer_parameters(optimizer)}
        trained: dict[tuple[Any, ...], tuple[nn.Module, str]] = {}
        loose: list[tuple[tuple[Any, ...], nn.Module, str]] = []
        for module, name in self._modules():
            parameters = list(module.parameters())
            if len(parameters) < 2 or sum(one.numel() for one in parameters) < _LEAST_WEIGHTS:
                continue
            key = (type(module).__name__, *(tuple(one.shape) for one in parameters))
            inside = sum(id(one) in held for one in parameters)
            if inside == len(parameters):
                trained.setdefault(key, (module, name))
            elif not inside:
                loose.append((key, module, name))
        taken = [one.facts["name"] for one in self._known]
        for key, module, name in loose:
            below = any(name == other or name.startswith(f"{other}.") for other in taken)
            if key in trained and not below and len(self._known) < _MOST:
                source, like = trained[key]
                self._known.append(Follower(module, source, name, like))
                taken.append(name)

    def _modules(self) -> Iterable[tuple[nn.Module, str]]:
        """Every model and its parts, outer ones first."""
        count = 0
        for root in [*self._names.roots, *self._beside]:
            own = self._names.module_name(root) is None
            called = (variable_name(root) or type(root).__name__) if own else ""
            for module, inner in walk(root, called):
                count += 1
                if count > _MODULES:
                    return
                yield module, inner if own else self._names.module_name(module) or type(module).__name__


def _some(module: nn.Module) -> torch.Tensor | None:
    """A few weights of a few of its parameters, the last ones too."""
    parameters = [one for one in module.parameters() if readable(one) is not None]
    chosen = parameters[:: max(1, len(parameters) // _TENSORS)]
    flat = [one.detach().reshape(-1) for one in chosen]
    parts = [one[:: max(1, one.numel() // _ELEMENTS)][:_ELEMENTS].float().cpu() for one in flat]
    return torch.cat(parts) if parts else None


def _apart(one: torch.Tensor, other: torch.Tensor) -> float:
    scale = float(other.abs().mean())
    return float((one - other).abs().mean()) / scale if scale else 0.0
