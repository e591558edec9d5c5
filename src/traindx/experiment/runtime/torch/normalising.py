"""Mean and deviation of a model's input, feature by feature, from its first batches."""

from __future__ import annotations

import torch
from torch import nn

from traindx.experiment.runtime.torch.tensors import range_of

_BATCHES = 8
_CONSTANT = 1e-12


def channel_axis(root: nn.Module, tensor: torch.Tensor) -> int:
    """Features stand last; the channels of images, and of what goes into a convolution, come second."""
    if tensor.dim() < 3:
        return -1
    if tensor.dim() > 3:
        return 1
    first = next(
        (module for module in root.modules() if next(module.parameters(recurse=False), None) is not None),
        None,
    )
    return 1 if isinstance(first, nn.modules.conv._ConvNd) and first.in_channels == tensor.shape[1] else -1


class FeatureMoments:
    """Of the first batches, merged as they come; fixed from then on."""

    def __init__(self, axis: int) -> None:
        self.axis = axis
        self.count = 0
        self._batches = 0
        self._mean = self._squares = torch.zeros(0, dtype=torch.float64)

    def add(self, tensor: torch.Tensor) -> None:
        if self._batches >= _BATCHES:
            return
        self._batches += 1
        rows = tensor.detach().double().movedim(self.axis, -1).flatten(0, -2)
        rows = rows[torch.isfinite(rows).all(1)]
        if not len(rows):
            return
        mean, count = rows.mean(0), len(rows)
        squares = (rows - mean).square().sum(0)
        if self.count:
            apart = mean - self._mean
            total = self.count + count
            squares = squares + self._squares + apart.square() * self.count * count / total
            mean = self._mean + apart * count / total
        self._mean, self._squares, self.count = mean, squares, self.count + count

    def normalised(self, tensor: torch.Tensor) -> torch.Tensor:
        if not self.count:
            return tensor
        deviation = (self._squares / self.count).sqrt()
        small = deviation <= _CONSTANT * self._mean.abs().clamp(min=1)
        deviation = torch.where(small, torch.ones_like(deviation), deviation)
        shape = [1] * tensor.dim()
        shape[self.axis] = -1
        scaled = (tensor.double() - self._mean.view(shape)) / deviation.view(shape)
        return scaled.to(tensor.dtype)

    def text(self) -> str:
        deviation = (self._squares / max(1, self.count)).sqrt()
        spread = f"means {range_of(self._mean)}, deviations {range_of(deviation)}"
        return f"{len(self._mean)} features with {spread} -> 0 and 1"
