"""One call of a model, to be made again in either mode, and the state it must be left in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from traindx.experiment.runtime.snapshot import modes_kept
from traindx.experiment.runtime.torch.tensors import tensors_in


class RepeatableCall:
    """A model and what it was called with."""

    def __init__(self, root: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.root = root
        self.args = args
        self.kwargs = kwargs

    @property
    def size(self) -> int:
        return sum(parameter.numel() for parameter in self.root.parameters())

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Copies in the place of its buffers, which a waiting graph may hold; modes as they are now."""
        buffers = [(module, dict(module._buffers)) for module in self.root.modules()]
        for module, tensors in buffers:
            for name, buffer in tensors.items():
                module._buffers[name] = None if buffer is None else buffer.detach().clone()
        try:
            with modes_kept(self.root):
                yield
        finally:
            for module, tensors in buffers:
                module._buffers.update(tensors)

    def again(self, args: tuple[Any, ...] | None = None, *, training: bool) -> torch.Tensor:
        """Its main output in a mode, from the same inputs or others."""
        with modes_kept(self.root):
            self.root.train(training) if training else self.root.eval()
            output = self.root(*(self.args if args is None else args), **self.kwargs)
        return main(output)

    def batch_norms(self) -> int:
        return sum(isinstance(module, nn.modules.batchnorm._BatchNorm) for module in self.root.modules())

    def dropouts(self) -> int:
        kinds = nn.modules.dropout._DropoutNd
        return sum(isinstance(module, kinds) and module.p > 0 for module in self.root.modules())


def main(output: Any) -> torch.Tensor:
    """The tensor that counts among what a model gives: its logits, or the first with gradients."""
    if isinstance(output, torch.Tensor):
        return output
    logits = getattr(output, "logits", None)
    if isinstance(logits, torch.Tensor):
        return logits
    if hasattr(output, "__dict__") and not isinstance(output, dict | list | tuple):
        output = dict(vars(output))
    outputs = [tensor for _, tensor in tensors_in(output) if tensor.is_floating_point() and tensor.dim()]
    if not outputs:
        raise ValueError("the model gives no tensor of numbers")
    return next((tensor for tensor in outputs if tensor.requires_grad), outputs[0])


def apart(first: torch.Tensor, second: torch.Tensor) -> float:
    """How far two outputs differ, beside the size of the first; 0 only where they are the same."""
    first, second = first.detach().double(), second.detach().double()
    if first.shape != second.shape:
        return 1.0
    gap = float((first - second).norm())
    return gap / max(float(first.norm()), 1e-12) if gap else 0.0
