"""Weights drawn anew, without touching the streams of random numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import torch
from torch import nn

from traindx.experiment.runtime.torch.tensors import range_of

_LAYERS = (nn.Linear, nn.Bilinear, nn.modules.conv._ConvNd, nn.RNNBase, nn.RNNCellBase)
_NORMS = (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)
_EMBEDDINGS = (nn.Embedding, nn.EmbeddingBag)
_WEIGHT = re.compile(r"^(w|weights?|kernel)(_|\d|$)", re.IGNORECASE)


def initialise(root: nn.Module, kind: str) -> str:
    """What was drawn anew, in numbers; empty if there was nothing to draw."""
    random = torch.Generator()
    random.manual_seed(0)
    tied = {
        id(parameter)
        for module in root.modules()
        if isinstance(module, _EMBEDDINGS)
        for parameter in module.parameters()
    }
    old_spreads, new_spreads, count = [], [], 0
    with torch.no_grad():
        for weight in _weights(root, tied):
            old_spreads.append(float(weight.std()))
            count += weight.numel()
            new = torch.empty_like(weight, device="cpu", dtype=torch.float32)
            _draw(new, kind, random)
            weight.copy_(new)
            new_spreads.append(float(weight.std()))
        _settle_the_rest(root)
    if not old_spreads:
        return ""
    spread = f"deviations {range_of(old_spreads)} -> {range_of(new_spreads)}"
    return f"{count:,} weights of {len(old_spreads)} tensors drawn by {kind}: {spread}"


def _weights(root: nn.Module, tied: set[int]) -> Iterator[nn.Parameter]:
    for module in root.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if (
                not parameter.requires_grad
                or parameter.dim() < 2
                or id(parameter) in tied
                or isinstance(module, _EMBEDDINGS)
            ):
                continue
            if isinstance(module, _LAYERS) or (parameter.dim() == 2 and _WEIGHT.search(name)):
                yield parameter


def _draw(weight: torch.Tensor, kind: str, random: torch.Generator) -> None:
    if kind == "he":
        nn.init.kaiming_normal_(weight, nonlinearity="relu", generator=random)
    elif kind == "xavier":
        nn.init.xavier_uniform_(weight, generator=random)
    else:
        nn.init.orthogonal_(weight, generator=random)


def _settle_the_rest(root: nn.Module) -> None:
    for module in root.modules():
        if isinstance(module, _NORMS) and module.weight is not None and module.weight.requires_grad:
            module.weight.fill_(1.0)
        if not isinstance(module, (*_LAYERS, *_NORMS)):
            continue
        for name, parameter in module.named_parameters(recurse=False):
            if "bias" in name and parameter.requires_grad:
                parameter.zero_()
