"""Which of the tensors a model is given are its inputs, by their names and types."""

from __future__ import annotations

import re

import torch

# Structure and answers, not data: what says where to look, and what is looked for.
_NO_INPUT = re.compile(
    r"mask|label|target|edge|index|indices|adj|len(gth)?s?$|position|offsets?$|^batch$|^y$|^hidden|state",
    re.IGNORECASE,
)


def is_input(name: str, tensor: torch.Tensor) -> bool:
    """Numbers or tokens that a model is to learn from; masks, labels and structure are none."""
    if tensor.dtype == torch.bool or not tensor.numel() or tensor.is_sparse:
        return False
    return _NO_INPUT.search(name) is None


def is_numeric(name: str, tensor: torch.Tensor) -> bool:
    return is_input(name, tensor) and tensor.is_floating_point()


def said(name: str, tensor: torch.Tensor) -> str:
    """`x (3x32x32 each)`."""
    return f"{name} ({'x'.join(map(str, tensor.shape[1:])) or 'a number'} each)"
