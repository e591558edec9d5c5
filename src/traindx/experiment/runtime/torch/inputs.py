"""Which of the tensors a model is given are its inputs, by their names and types."""

from __future__ import annotations

import re

import torch

from traindx.observe.torch.batch_columns import is_given, is_label, is_structure

__all__ = ["is_input", "is_label", "is_numeric", "is_structure", "is_validation", "said"]

_VALIDATION = re.compile(r"(?<![a-z])(val|valid|validation|test|eval|dev|holdout|predict)", re.IGNORECASE)
_TRAINING = re.compile(r"train", re.IGNORECASE)


def is_input(name: str, tensor: torch.Tensor) -> bool:
    """Numbers or tokens that a model is to learn from; masks, labels and structure are none."""
    if tensor.dtype == torch.bool or not tensor.numel() or tensor.is_sparse:
        return False
    return is_given(name)


def is_numeric(name: str, tensor: torch.Tensor) -> bool:
    return is_input(name, tensor) and tensor.is_floating_point()


def is_validation(line: str) -> bool:
    """Whether a line of the script that makes a loader names it so."""
    name = line.partition("=")[0] if re.match(r"[\w.\[\]'\", ]+=(?!=)", line) else line
    if _TRAINING.search(name):
        return False
    return _VALIDATION.search(name) is not None


def said(name: str, tensor: torch.Tensor) -> str:
    """`x (3x32x32 each)`."""
    return f"{name} ({'x'.join(map(str, tensor.shape[1:])) or 'a number'} each)"
