"""What a model is made of, recorded once: layers, initial weights, activations, what is shared or frozen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod, sqrt
from typing import Any

import numpy as np
import torch
from torch import nn

from traindx.core.kinds import layer_kind
from traindx.observe.clock import monotonic
from traindx.observe.data.initial_values import is_even_draw, is_normal_draw
from traindx.observe.torch.element_samples import READABLE, plain, sample_of, spread, to_host
from traindx.observe.torch.graph import walk
from traindx.observe.torch.kinds import activation_shape, is_dropout, is_layer, is_norm
from traindx.observe.torch.naming import Names
from traindx.observe.torch.replicas import is_sharded
from traindx.observe.torch.roots import child_at, children_of, parameters_of

_LISTED = 500
_NAMED = 50
_EMBEDDINGS = (nn.Embedding, nn.EmbeddingBag)
_RECURRENT = (nn.RNNBase, nn.RNNCellBase)


def model_facts(root: nn.Module, names: Names) -> dict[str, Any]:
    """The whole summary of one model. Its weights are read as they are now: call it before the first step."""
    modules = list(root.modules())
    parameters = list(root.parameters())
    layers = [module for module in modules if is_layer(module) and _layer_parameters(module)]
    weighted = [module for module in layers if not is_norm(module) and not isinstance(module, _EMBEDDINGS)]
    frozen = [parameter for parameter in parameters if not parameter.requires_grad]
    return {
        "class": type(root).__name__,
        "parameters": sum(_numel(parameter) for parameter in parameters),
        "trainable": sum(_numel(parameter) for parameter in parameters if parameter.requires_grad),
        "layers": sum(_depth_of(module) for module in weighted),
        "layer_list": _layer_list(layers[:_LISTED], names),
        "activations": dict(
            Counter(type(module).__name__ for module in modules if activation_shape(module) is not None)
        ),
        "normalisation": dict(Counter(type(module).__name__ for module in modules if is_norm(module))),
        "dropout": sorted(
            {
                float(module.p)
                for module in modules
                if is_dropout(module) and isinstance(module.p, int | float)
            }
        ),
        "shared": _shared(root, names),
        "dtypes": _elements_by(parameters, lambda parameter: str(parameter.dtype).removeprefix("torch.")),
        "devices": _elements_by(parameters, lambda parameter: str(parameter.device)),
        "frozen": {
            "count": len(frozen),
            "names": [names.parameter_name(parameter) for parameter in frozen[:_NAMED]],
            "initial": sum(_frozen_initial(layer) for layer in layers),
            "elements": sum(_numel(parameter) for parameter in frozen),
        },
        "embeddings": [
            {"name": names.module_name(module), "size": module.num_embeddings, "width": module.embedding_dim}
            for module in modules
            if isinstance(module, _EMBEDDINGS)
        ][:_NAMED],
        "output_width": _output_width(weighted),
        "recurrent": any(isinstance(module, _RECURRENT) for module in modules),
        "attention": any("attention" in type(module).__name__.lower() for module in modules),
        "blocks": _blocks(modules),
        "checkpointing": any(getattr(module, "gradient_checkpointing", False) is True for module in modules),
    }


def _layer_parameters(module: nn.Module) -> list[torch.Tensor]:
    """The parameters of a layer, also where a parametrization took them over."""
    parametrized = child_at(module, "parametrizations")
    return [parameter for _, parameter in parameters_of(module)] + (
        list(parametrized.parameters()) if parametrized is not None else []
    )


def _frozen_initial(module: Any) -> int:
    """How many weights of a frozen layer are those that PyTorch makes it with, or libraries of models: normal
    numbers beside a bias of zeros."""
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if not isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d) or weight is None:
        return 0
    if weight.requires_grad or weight.is_meta or type(weight) is not nn.Parameter:
        return 0
    bound = 1.0 / sqrt(max(1, _numel(weight[0])))
    largest_bias = float(bias.detach().abs().max()) if bias is not None else None
    values = weight.detach().float().cpu().numpy().reshape(-1)
    if largest_bias == 0 and is_normal_draw(values):
        return _numel(weight)
    fits = largest_bias is None or largest_bias <= 1.0001 * bound
    return _numel(weight) if fits and is_even_draw(values, bound) else 0


def _numel(parameter: torch.Tensor) -> int:
    """Elements; none of a parameter that gets its shape at the first call."""
    return 0 if type(parameter).__name__.startswith("Uninitialized") else parameter.numel()


def _depth_of(module: nn.Module) -> int:
    """A recurrent module may be several layers."""
    return int(module.num_layers) if isinstance(module, nn.RNNBase) else 1


def _layer_list(layers: list[nn.Module], names: Names) -> list[dict[str, Any]]:
    """Name, type, shape and initial weights of each layer, with one transfer for all."""
    weights = [
        max(_layer_parameters(module), key=lambda parameter: parameter.dim() if _numel(parameter) else -1)
        for module in layers
    ]
    samples: dict[int, torch.Tensor] = {}
    for number, weight in enumerate(weights):
        data = plain(weight) if _numel(weight) > 1 else None
        if data is not None and data.dtype in READABLE:
            samples[number] = sample_of(data, spread(data.numel())).reshape(-1).float()
    arrays = dict(zip(samples, to_host(list(samples.values())), strict=True))
    listed = []
    for number, (module, weight) in enumerate(zip(layers, weights, strict=True)):
        facts: dict[str, Any] = {"name": names.module_name(module), "type": type(module).__name__}
        facts["kind"] = layer_kind(type(module).__name__)
        facts["parameters"] = sum(_numel(parameter) for parameter in _layer_parameters(module))
        if _numel(weight):
            facts["shape"] = list(weight.shape)
        if number in arrays:
            facts["init"] = _initial(
                arrays[number], None if isinstance(module, _EMBEDDINGS) else weight.shape
            )
        listed.append(facts)
    return listed


def _initial(sample: Any, shape: torch.Size | None) -> dict[str, float]:
    """Mean and spread; for a matrix also the spread compared with one over the root of its inputs."""
    with np.errstate(all="ignore"):
        mean, std = float(sample.mean(dtype=np.float64)), float(sample.std(dtype=np.float64))
    facts: dict[str, float] = {"mean": mean, "std": std}
    if shape is not None and len(shape) > 1:
        fan_in = prod(shape[1:])
        facts |= {"fan_in": fan_in, "gain": std * sqrt(fan_in)}
    return facts


def _shared(root: nn.Module, names: Names) -> list[list[str]]:
    """Parameters that several modules hold."""
    holders: dict[int, list[str]] = {}
    for module in root.modules():
        for attribute, parameter in parameters_of(module):
            holders.setdefault(id(parameter), []).append(f"{names.module_name(module)}.{attribute}")
    return [holding for holding in holders.values() if len(holding) > 1][:_NAMED]


def _elements_by(parameters: list[nn.Parameter], key: Any) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for parameter in parameters:
        counts[key(parameter)] += _numel(parameter)
    return dict(counts)


def _output_width(weighted: list[nn.Module]) -> int | None:
    """Outputs of the layer that was defined last, which mostly is the last one."""
    last = weighted[-1] if weighted else None
    width = getattr(last, "out_features", None) or getattr(last, "out_channels", None)
    return width if isinstance(width, int) else None


def _blocks(modules: list[nn.Module]) -> int:
    """The longest row of modules of one class: what people count as the layers of a transformer."""
    longest = 0
    for module in modules:
        if isinstance(module, nn.ModuleList | nn.Sequential):
            kinds = Counter(type(child) for child in module if child is not None and children_of(child))
            longest = max(longest, *kinds.values()) if kinds else longest
    return longest


_SECONDS = 0.2
_NAMED_FREE = 100


def reach_facts(grad_fn: Any, trained: Sequence[torch.Tensor], names: Names) -> dict[str, Any] | None:
    """Parameters behind a loss, compared with the trained ones; None where a graph does not show them."""
    if is_sharded(trained):
        return None
    graph = walk(grad_fn, monotonic() + _SECONDS)
    reached = graph.leaves()
    leaves = [parameter for parameter in reached.values() if isinstance(parameter, torch.nn.Parameter)]
    trained_ids = {id(parameter) for parameter in trained}
    free = [parameter for parameter in leaves if id(parameter) not in trained_ids]
    outside = [parameter for parameter in trained if parameter.requires_grad and id(parameter) not in reached]
    return {
        "parameters": len(leaves),
        "elements": _elements(leaves),
        "held": sum(1 for identity in reached if identity in trained_ids),
        "free": [names.parameter_name(parameter) for parameter in free[:_NAMED_FREE]],
        "free_elements": _elements(free),
        "outside": len(outside),
        "complete": graph.complete,
    }


def _elements(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.numel() for tensor in tensors)
