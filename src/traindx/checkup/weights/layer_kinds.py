"""What kind of layer a tensor of a checkpoint belongs to, by its name, its shape and its siblings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from traindx.checkup.weights.tensors import Layout, StoredTensor

_RUNNING = {"running_mean": "norm_mean", "moving_mean": "norm_mean", "running_var": "norm_variance",
            "moving_variance": "norm_variance", "num_batches_tracked": "norm_count"}  # fmt: skip
_EMBEDDING = re.compile(r"emb|wte|wpe|lookup|vocab", re.IGNORECASE)
_RECURRENT = re.compile(r"(weight|bias)_[ih]h|recurrent_kernel|lstm|gru(?!b)|rnn", re.IGNORECASE)
_NORM = re.compile(r"norm|(^|[._/])(ln|bn)[_\d]*([._/]|$)|gamma$|beta$", re.IGNORECASE)
_BIAS = re.compile(r"((^|[._/:])(bias|beta|b)(_[a-z0-9_]+)?|_bias)(:0)?$", re.IGNORECASE)


def layer_of(name: str) -> str:
    """`block.0.conv.weight` -> `block.0.conv`."""
    front, separator, _ = name.rpartition("/" if "/" in name else ".")
    return front if separator else name


def leaf_of(name: str) -> str:
    return re.split(r"[./]", name)[-1].removesuffix(":0")


def kinds_of(tensors: Iterable[StoredTensor]) -> Mapping[str, str]:
    """The kind of every tensor: `dense`, `conv`, `recurrent`, `embedding`, `norm`, `bias`, `norm_mean` ..."""
    stored = list(tensors)
    leaves: dict[str, set[str]] = {}
    for tensor in stored:
        leaves.setdefault(layer_of(tensor.name), set()).add(leaf_of(tensor.name))
    return {tensor.name: _kind(tensor, leaves[layer_of(tensor.name)]) for tensor in stored}


def _kind(tensor: StoredTensor, siblings: set[str]) -> str:
    leaf, dimensions = leaf_of(tensor.name), len(tensor.shape)
    if leaf in _RUNNING:
        return _RUNNING[leaf]
    if not tensor.dtype.startswith(("float", "bfloat")):
        return "counter" if dimensions == 0 else "whole_numbers"
    if dimensions == 0:
        return "scalar"
    in_norm = bool(siblings & set(_RUNNING)) or bool(_NORM.search(tensor.name))
    if dimensions == 1:
        if in_norm:
            return "norm_bias" if _BIAS.search(leaf) else "norm"
        return "bias" if _BIAS.search(leaf) else "vector"
    if _RECURRENT.search(tensor.name):
        return "recurrent"
    if _EMBEDDING.search(tensor.name) and dimensions == 2:
        return "embedding"
    return "dense" if dimensions == 2 else "conv"


def fans(shape: tuple[int, ...], layout: Layout) -> tuple[int, int]:
    """How many inputs and outputs each unit of a weight has."""
    size = 1
    for dimension in shape:
        size *= dimension
    outputs, inputs = (shape[0], shape[1]) if layout == "out_first" else (shape[-1], shape[-2])
    window = size // max(1, inputs * outputs)
    return inputs * window, outputs * window
