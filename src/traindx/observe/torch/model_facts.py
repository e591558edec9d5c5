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
from traindx.observe.data.initial_values import is_even_draw
from traindx.observe.torch.element_samples import READABLE, plain, sample_of, spread, to_host
from traindx.observe.torch.graph import walk
from traindx.observe.torch.kinds import activation_shape, is_dropout, is_layer, is_norm
from traindx.observe.torch.naming import Names
from traindx.observe.torch.roots import child_at, children_of, parameters_of

_LISTED = 500
_NAMED = 50
_EMBEDDINGS = (nn.Embedding, nn.EmbeddingBag)
_RECURRENT = (nn.RNNBase, nn.RNNCellBase)


def model_facts(root: nn.Module, names: Names) -> dict[str, Any]:
    """The whole summary of one model. Its weights are read as they are now: call it before the first step."""
    modules = list(root.modules())
    parameters = list(root.parameters())
    layers = [module for module in modules if is_layer(module) and _own(module)]
    weighted = [module for module in layers if not is_norm(module) and not isinstance(module, _EMBEDDINGS)]
    frozen = [one for one in parameters if not one.requires_grad]
    return {
        "class": type(root).__name__,
        "parameters": sum(_numel(one) for one in parameters),
        "trainable": sum(_numel(one) for one in parameters if one.requires_grad),
        "layers": sum(_depth_of(module) for module in weighted),
        "layer_list": _layer_list(layers[:_LISTED], names),
        "activations": dict(
            Counter(type(one).__name__ for one in modules if activation_shape(one) is not None)
        ),
        "normalisation": dict(Counter(type(one).__name__ for one in modules if is_norm(one))),
        "dropout": sorted(
            {float(one.p) for one in modules if is_dropout(one) and isinstance(one.p, int | float)}
        ),
        "shared": _shared(root, names),
        "dtypes": _elements_by(parameters, lambda one: str(one.dtype).removeprefix("torch.")),
        "devices": _elements_by(parameters, lambda one: str(one.device)),
        "frozen": {
            "count": len(frozen),
            "names": [names.parameter_name(one) for one in frozen[:_NAMED]],
            "initial": sum(_frozen_initial(one) for one in layers),
            "elements": sum(_numel(one) for one in frozen),
        },
        "embeddings": [
            {"name": names.module_name(one), "size": one.num_embeddings, "width": one.embedding_dim}
            for one in modules
            if isinstance(one, _EMBEDDINGS)
        ][:_NAMED],
        "output_width": _output_width(weighted),
        "recurrent": any(isinstance(one, _RECURRENT) for one in modules),
        "attention": any("attention" in type(one).__name__.lower() for one in modules),
        "blocks": _blocks(modules),
        "checkpointing": any(getattr(one, "gradient_checkpointing", False) is True for one in modules),
    }


def _own(module: nn.Module) -> list[torch.Tensor]:
    """The parameters of a layer, also where a parametrization took them over."""
    parametrized = child_at(module, "parametrizations")
    return [one for _, one in parameters_of(module)] + (
        list(parametrized.parameters()) if parametrized is not None else []
    )


def _frozen_initial(module: Any) -> int:
    """How many weights of a frozen layer are those that PyTorch makes it with."""
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if not isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d) or weight is None:
        return 0
    if weight.requires_grad or weight.is_meta or type(weight) is not nn.Parameter:
        return 0
    bound = 1.0 / sqrt(max(1, _numel(weight[0])))
    if bias is not None and float(bias.detach().abs().max()) > 1.0001 * bound:
        return 0
    even = is_even_draw(weight.detach().float().cpu().numpy().reshape(-1), bound)
    return _numel(weight) if even else 0


def _numel(parameter: torch.Tensor) -> int:
    """Elements; none of a parameter that gets its shape at the first call."""
    return 0 if type(parameter).__name__.startswith("Uninitialized") else parameter.numel()


def _depth_of(module: nn.Module) -> int:
    """A recurrent module may be several layers."""
    return int(module.num_layers) if isinstance(module, nn.RNNBase) else 1


def _layer_list(layers: list[nn.Module], names: Names) -> list[dict[str, Any]]:
    """Name, type, shape and initial weights of each layer, with one transfer for all."""
    weights = [max(_own(module), key=lambda one: one.dim() if _numel(one) else -1) for module in layers]
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
        facts["parameters"] = sum(_numel(one) for one in _own(module))
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
    for one in parameters:
        counts[key(one)] += _numel(one)
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
_SHARDED = ("_local_tensor", "_is_flat_param", "_fsdp_flattened", "ds_tensor")


def reach_facts(grad_fn: Any, trained: Sequence[torch.Tensor], names: Names) -> dict[str, Any] | None:
    """Parameters behind a loss, compared with the trained ones; None where a graph does not show them."""
    if any(hasattr(one, mark) for one in trained for mark in _SHARDED):
        return None
    graph = walk(grad_fn, monotonic() + _SECONDS)
    reached = graph.leaves()
    leaves = [one for one in reached.values() if isinstance(one, torch.nn.Parameter)]
    mine = {id(one) for one in trained}
    free = [one for one in leaves if id(one) not in mine]
    outside = [one for one in trained if one.requires_grad and id(one) not in reached]
    return {
        "parameters": len(leaves),
        "elements": _elements(leaves),
        "held": sum(1 for one in reached if one in mine),
        "free": [names.parameter_name(one) for one in free[:_NAMED_FREE]],
        "free_elements": _elements(free),
        "outside": len(outside),
        "complete": graph.complete,
    }


def _elements(tensors: Iterable[torch.Tensor]) -> int:
    return sum(one.numel() for one in tensors)
