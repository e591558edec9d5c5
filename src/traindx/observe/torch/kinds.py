"""How the probe treats a module: as an activation, as a layer with weights, or as nothing to sample."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from traindx.core.kinds import (
    HARD_SIGMOID,
    OTHER,
    RECTIFIER,
    SELU,
    SIGMOID,
    SMOOTH,
    SOFTSIGN,
    TANH,
    LayerShape,
    activation_by_name,
    bounded,
    celu,
    exponential,
)
from traindx.observe.torch.roots import children_of, parameters_of

_SHAPES: dict[type[nn.Module], LayerShape | Callable[[Any], LayerShape]] = {
    nn.ReLU: RECTIFIER,
    nn.Hardswish: RECTIFIER,
    nn.Softshrink: RECTIFIER,
    nn.Hardshrink: RECTIFIER,
    nn.GELU: SMOOTH,
    nn.SiLU: SMOOTH,
    nn.Mish: SMOOTH,
    nn.Softplus: SMOOTH,
    nn.Sigmoid: SIGMOID,
    nn.Tanh: TANH,
    nn.Softsign: SOFTSIGN,
    nn.Hardsigmoid: HARD_SIGMOID,
    nn.Hardtanh: lambda module: bounded(module.min_val, module.max_val),
    nn.ReLU6: bounded(0.0, 6.0),
    nn.ELU: lambda module: exponential(module.alpha),
    nn.CELU: lambda module: celu(module.alpha),
    nn.SELU: SELU,
    nn.LeakyReLU: OTHER,
    nn.RReLU: OTHER,
    nn.PReLU: OTHER,
    nn.GLU: OTHER,
    nn.LogSigmoid: OTHER,
    nn.Tanhshrink: OTHER,
    nn.Threshold: OTHER,
}
_LAYERS = (
    nn.Linear,
    nn.Bilinear,
    nn.modules.conv._ConvNd,
    nn.RNNBase,
    nn.RNNCellBase,
    nn.modules.batchnorm._NormBase,
    nn.LayerNorm,
    nn.GroupNorm,
    nn.Embedding,
    nn.EmbeddingBag,
    nn.MultiheadAttention,
)
_CHANNELS_FIRST = (nn.modules.conv._ConvNd, nn.modules.batchnorm._NormBase, nn.GroupNorm, nn.PReLU)
_DROPOUT = nn.modules.dropout._DropoutNd


def activation_shape(module: nn.Module) -> LayerShape | None:
    """The shape of an activation module; None for all else. Softmax is none: it has no units to die."""
    for base in type(module).__mro__:
        shape = _SHAPES.get(base)
        if shape is not None:
            return shape if isinstance(shape, LayerShape) else shape(module)
    if children_of(module) or parameters_of(module):
        return None
    return activation_by_name(type(module).__name__)


def is_layer(module: nn.Module) -> bool:
    """Whether it is one of torch's layers, or any module with weights and no modules inside."""
    return isinstance(module, _LAYERS) or bool(parameters_of(module) and not children_of(module))


def is_dropout(module: nn.Module) -> bool:
    return isinstance(module, _DROPOUT)


def is_norm(module: nn.Module) -> bool:
    """Torch's own, and what others call a norm: a leaf with a vector of weights at most."""
    if isinstance(module, nn.modules.batchnorm._NormBase | nn.LayerNorm | nn.GroupNorm):
        return True
    is_named_norm = "norm" in type(module).__name__.lower()
    return (
        is_named_norm
        and not children_of(module)
        and all(weight.dim() <= 1 for _, weight in parameters_of(module))
    )


def has_modes(module: nn.Module) -> bool:
    """Whether it works differently in training and in evaluation."""
    return isinstance(module, nn.modules.batchnorm._NormBase) or (
        is_dropout(module) and getattr(module, "p", 1) > 0
    )


def channels_first(module: nn.Module, ndim: int) -> bool | None:
    """Whether units lie along dimension 1, as in images; None for a module that takes any layout."""
    if isinstance(module, nn.LayerNorm | nn.Linear | nn.Embedding | nn.RNNBase | nn.MultiheadAttention):
        return False
    if isinstance(module, _CHANNELS_FIRST):
        return ndim > 2
    return None


# Functions called directly, by the node they leave in the graph.
_NODES: dict[str, LayerShape] = {
    "ReluBackward0": RECTIFIER,
    "HardswishBackward0": RECTIFIER,
    "GeluBackward0": SMOOTH,
    "SiluBackward0": SMOOTH,
    "MishBackward0": SMOOTH,
    "SoftplusBackward0": SMOOTH,
    "SigmoidBackward0": SIGMOID,
    "TanhBackward0": TANH,
    "LeakyReluBackward0": OTHER,
    "HardsigmoidBackward0": HARD_SIGMOID,
}
# Nodes that neither make zeros nor mix units, between an activation and the layer that takes its output.
_THROUGH = re.compile(
    r"View|UnsafeView|ReshapeAlias|Flatten|Transpose|Permute|^TBack|Clone|Squeeze|Unsqueeze|ToCopy"
    r"|MaxPool\dDWithIndices|Contiguous"
)
_STEPS = 5


def shape_behind(tensor: torch.Tensor) -> tuple[Any, LayerShape | None]:
    """The node of the activation function that made a tensor, and its shape; (None, None) if none did."""
    node: Any = tensor.grad_fn
    for _ in range(_STEPS):
        if node is None:
            break
        name = node.name()
        shape = _NODES.get(name) or _shape_of_node(name, node)
        if shape is not None:
            return node, shape
        if not _THROUGH.search(name):
            break
        node = node.next_functions[0][0]
    return None, None


def _shape_of_node(name: str, node: Any) -> LayerShape | None:
    if name == "HardtanhBackward0":
        return bounded(float(node._saved_min_val), float(node._saved_max_val))
    if name == "EluBackward0":
        return exponential(float(node._saved_alpha), float(node._saved_scale))
    if name == "CeluBackward0":
        return celu(float(node._saved_alpha))
    if name == "ClampMinBackward0" or (
        name.startswith("ClampBackward") and getattr(node, "_saved_max", 0) is None
    ):
        return RECTIFIER if getattr(node, "_saved_min", None) == 0 else None
    return None
