"""Losses that a program writes by hand, `((output - target) ** 2).mean()` and its kin, found in the graph.

torch's loss functions are seen when they are called; a difference that is squared or made absolute leaves
only its operations. They keep the difference, and the output of the model is known: so is the target.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch.autograd.graph import Node

from traindx.observe.torch.graph import inputs, operation, setting
from traindx.observe.torch.saved import Saved

_NODES = 60
# Between the loss and the difference: means, sums, weights, other terms.
_COMBINING = frozenset(
    "Mean Sum Nansum Div Mul Add Sub Neg Sqrt View UnsafeView Reshape ReshapeAlias Squeeze Unsqueeze Expand "
    "Stack Cat Select Index MaskedSelect Where ToCopy Clone Alias".split()
)
# Between the difference and the output: all values stay, in their order.
_RESHAPING = frozenset(
    "View UnsafeView Reshape ReshapeAlias Squeeze Unsqueeze ToCopy Clone Alias T Transpose Permute".split()
)


@dataclass(frozen=True, eq=False)
class WrittenLoss:
    """Which of torch's functions it amounts to, what the model gave and what it was compared with."""

    function: str
    output: torch.Tensor
    target: torch.Tensor


def written_losses(grad_fn: Node | None, outputs: Sequence[torch.Tensor]) -> Iterator[WrittenLoss]:
    """The differences between an output of the model and numbers without a gradient."""
    queue, visits, saved = deque([grad_fn] if grad_fn is not None else []), 0, Saved()
    while queue and visits < _NODES:
        node = queue.popleft()
        visits += 1
        name = operation(node)
        loss = _compared(node, name, outputs, saved)
        if loss is not None:
            yield loss
        elif name in _COMBINING:
            queue.extend(source for source, _ in inputs(node))


def _compared(node: Node, name: str, outputs: Sequence[torch.Tensor], saved: Saved) -> WrittenLoss | None:
    function = {"Pow": "mse_loss", "Mul": "mse_loss", "Abs": "l1_loss"}.get(name)
    if function is None or (name == "Pow" and setting(node, "exponent") != 2):
        return None
    sources = {source for source, _ in inputs(node)}
    if len(sources) != 1 or operation(source := sources.pop()) != "Sub":
        return None
    sides = [side for side, _ in source.next_functions]
    if (sides[0] is None) == (sides[1] is None):
        return None
    output = _output_behind(sides[0] or sides[1], outputs)
    difference = saved.read(node).get("self")
    if output is None or difference is None or difference.numel() != output.numel():
        return None
    values, difference = output.detach(), difference.detach().reshape(output.shape)
    target = values - difference if sides[1] is None else values + difference
    return WrittenLoss(function, output, _rounded(target))


def _output_behind(node: Node | None, outputs: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """The output of the model whose values went into a difference as they are."""
    for _ in range(8):
        if node is None:
            return None
        for output in outputs:
            if output.grad_fn is node:
                return output
        sources = [source for source, _ in inputs(node)]
        node = sources[0] if operation(node) in _RESHAPING and len(sources) == 1 else None
    return None


def _rounded(values: torch.Tensor) -> torch.Tensor:
    """Without the last digits, which the subtraction has made up."""
    largest = float(values.abs().max()) if values.numel() else 0.0
    if not 0 < largest < math.inf or values.dtype not in (torch.float32, torch.float64):
        return values
    return torch.round(values, decimals=5 - math.ceil(math.log10(largest)))
