"""One trial pass of a model before its first real one: how its operations are connected.

It leaves no traces: buffers, modes and streams of random numbers are put back, and no other
hooks are called.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.autograd.graph import Node
from torch.nn.modules import module as calls

from traindx.experiment.runtime.frames import OURS
from traindx.experiment.runtime.torch.streams import Streams
from traindx.experiment.runtime.torch.tensors import copied, grad_fn_of, tensors_in
from traindx.observe.torch.graph import Graph, LayerUses, inputs, operation, walk

if TYPE_CHECKING:
    from traindx.observe.torch.places.models import ModelCall

_SECONDS = 5.0
_GLOBAL_HOOKS = ("_global_forward_pre_hooks", "_global_forward_hooks", "_global_backward_hooks")
# Operations that hand values on as they are.
THROUGH = frozenset(
    "View UnsafeView ReshapeAlias Reshape Flatten Transpose Permute T Clone Squeeze Unsqueeze ToCopy "
    "Contiguous NativeDropout Dropout MaxPool2DWithIndices MaxPool3DWithIndices AvgPool2D Expand".split()
)


@dataclass
class PassGraph:
    """The graph of one pass; `layers` are calls of modules with parameters, by the node of their result."""

    graph: Graph
    users: set[Node]
    layers: list[tuple[nn.Module, Node, Node | None]]
    rows: int
    _above: dict[Node, bool] = field(default_factory=dict)

    def is_hidden(self, node: Node) -> bool:
        """Whether parameters are used on what it gives, before the model's result."""
        if node not in self._above:
            self._above[node] = node in self.graph.consumers and bool(self.graph.above(node) & self.users)
        return self._above[node]

    def consumers(self, node: Node) -> list[Node]:
        """The operations that use a result, also after it was reshaped."""
        users, waiting, visited = [], [node], {node}
        while waiting:
            for one in self.graph.consumers.get(waiting.pop(), ()):
                if one in visited:
                    continue
                visited.add(one)
                if operation(one) in THROUGH:
                    waiting.append(one)
                else:
                    users.append(one)
        return users

    def is_gate(self, node: Node) -> bool:
        """Whether it is multiplied with something else that is computed: a gate, attention."""
        return any(
            operation(consumer) in ("Mul", "Bmm", "Mm")
            and len(list(inputs(consumer))) > 1
            and consumer not in self.users
            for consumer in self.consumers(node)
        )


def trace(root: nn.Module, call: ModelCall) -> PassGraph | None:
    """Run the model once aside, on copies of what it is given; None if it gives nothing with a gradient."""
    layers: list[tuple[nn.Module, Node, Node | None]] = []

    def returned(module: nn.Module, args: Any, output: Any) -> None:
        node, input_node = grad_fn_of(output), grad_fn_of(list(args))
        if node is not None:
            layers.append((module, node, input_node))

    modules = [
        module for module in root.modules() if next(module.parameters(recurse=False), None) is not None
    ]
    with torch.enable_grad(), _without_traces(root):
        handles = [module.register_forward_hook(returned) for module in modules]
        try:
            output = root(*copied(call.args), **copied(call.kwargs))
        finally:
            for handle in handles:
                handle.remove()
        ends = [
            tensor.float().sum() for _, tensor in tensors_in(_plain(output)) if tensor.grad_fn is not None
        ]
        end = torch.stack(ends).sum().grad_fn if ends else None
    if end is None:
        return None
    graph = walk(end, time.monotonic() + _SECONDS)
    uses = LayerUses(graph, lambda _: "")
    rows = next((tensor.shape[0] for _, tensor in call.tensors() if tensor.dim()), 1)
    return PassGraph(graph, {user for users in uses.users.values() for user in users}, layers, rows)


def _plain(output: Any) -> Any:
    """Results in objects of their own: those of transformers, data classes."""
    if isinstance(output, torch.Tensor | dict | tuple | list):
        return output
    return dict(vars(output)) if hasattr(output, "__dict__") else output


@contextlib.contextmanager
def _without_traces(root: nn.Module) -> Iterator[None]:
    buffers = [(buffer, buffer.detach().clone()) for buffer in root.buffers()]
    hooks = [(getattr(calls, name), dict(getattr(calls, name))) for name in _GLOBAL_HOOKS]
    for table, _ in hooks:
        table.clear()
    try:
        with Streams().kept():
            yield
    finally:
        for table, saved in hooks:
            table.update(saved)
        with torch.no_grad():
            for buffer, value in buffers:
                buffer.copy_(value)


def calling_frame() -> tuple[int, Any, int]:
    """Where a function of torch is called from: the module, the code and the place in it."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    owner = frame.f_locals.get("self")
    return (id(owner) if isinstance(owner, nn.Module) else 0, frame.f_code, frame.f_lasti)


_BEHIND_SECONDS = 1.0


def leaves_behind(losses: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """Each once, in the order of the graph."""
    leaves: dict[int, torch.Tensor] = {}
    for loss in losses:
        if loss.grad_fn is not None:
            leaves |= walk(loss.grad_fn, time.monotonic() + _BEHIND_SECONDS).leaves()
    return list(leaves.values())
