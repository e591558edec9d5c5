"""Norms after layers whose result goes straight into an activation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from traindx.observe.torch.graph import inputs, operation

if TYPE_CHECKING:
    from torch.autograd.graph import Node

    from traindx.experiment.runtime.torch.tracing import PassGraph

NAME = "inserted_norm"
_ENOUGH = 8
_ACTIVATIONS = frozenset(
    "Relu LeakyRelu Elu Celu Gelu Silu Mish Sigmoid Tanh Hardtanh Hardswish Hardsigmoid Softplus "
    "ClampMin PreluKernel LeakyReluWithRngState".split()
)
_BATCH_NORMS: dict[type[nn.Module], Callable[[int], nn.Module]] = {
    nn.Linear: nn.BatchNorm1d,
    nn.Conv1d: nn.BatchNorm1d,
    nn.Conv2d: nn.BatchNorm2d,
    nn.Conv3d: nn.BatchNorm3d,
}


def insert(trace: PassGraph, kind: str, group_of: Callable[[torch.Tensor], Any]) -> str:
    """What was put where; empty if there was no place."""
    inserted: dict[nn.Module, str] = {}
    layers: list[tuple[Any, Node, Node | None]] = list(trace.layers)
    for module, node, input_node in layers:
        if module in inserted or not _fits(trace, module, node, input_node):
            continue
        group = group_of(module.weight)
        if group is None:
            continue
        norm = _norm(module, kind, trace.rows, _dimensions(node))
        if norm is None:
            continue
        norm.to(device=module.weight.device, dtype=module.weight.dtype).train(module.training)
        module.add_module(NAME, norm)
        module.register_forward_hook(_apply_norm)
        group["params"].extend(norm.parameters())
        inserted[module] = type(norm).__name__
    kinds = sorted(set(inserted.values()))
    return (
        ", ".join(f"{list(inserted.values()).count(kind)} x {kind}" for kind in kinds) + " inserted"
        if inserted
        else ""
    )


def _apply_norm(module: nn.Module, args: Any, output: Any) -> Any:
    del args
    return module.get_submodule(NAME)(output)


def _fits(trace: PassGraph, module: nn.Module, node: Node, input_node: Node | None) -> bool:
    if not isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d) or NAME in dict(
        module.named_children()
    ):
        return False
    users = trace.consumers(node)
    goes = bool(users) and all(operation(user) in _ACTIVATIONS for user in users)
    return (
        goes and trace.is_hidden(node) and not any(map(trace.is_gate, users)) and not _is_normed(input_node)
    )


def _is_normed(node: Node | None) -> bool:
    """Whether what goes into a layer comes from a norm."""
    for _ in range(4):
        if node is None:
            return False
        if "Norm" in operation(node):
            return True
        node = next((source for source, _ in inputs(node)), None)
        if node is not None and operation(node) in ("Addmm", "Convolution", "Mm", "AccumulateGrad"):
            return False
    return False


def _dimensions(node: Node) -> int:
    about: Any = getattr(node, "_input_metadata", None)
    return len(about[0].shape) if about else 2


def _norm(module: Any, kind: str, rows: int, dimensions: int) -> nn.Module | None:
    """The norm for a layer; None where batch norm is asked for and would mix the positions of sequences."""
    linear = isinstance(module, nn.Linear)
    batch = kind == "batch" or (kind == "auto" and rows >= _ENOUGH)
    if batch and not (linear and dimensions != 2):
        norm = next(norm for layer, norm in _BATCH_NORMS.items() if isinstance(module, layer))
        return norm(module.weight.shape[0])
    if kind == "batch":
        return None
    return nn.LayerNorm(module.out_features) if linear else nn.GroupNorm(1, module.out_channels)
