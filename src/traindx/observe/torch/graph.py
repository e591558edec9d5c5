"""Walking the autograd graph that a forward pass left behind.

A node is one operation; its `next_functions` are the operations its inputs came from, up to the leaves, which
hold the parameters. Nothing here runs a node or changes one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch.autograd.graph import Node

from traindx.observe.clock import monotonic

LIMIT = 20_000
_LEAF = "AccumulateGrad"
# Operations that hand a parameter on to the one that uses it.
_CARRIERS = frozenset(
    "T Transpose Permute View UnsafeView ReshapeAlias Reshape Expand Unsqueeze Squeeze ToCopy Clone Alias "
    "Slice Select Split SplitWithSizes UnsafeSplit Unbind Chunk Narrow Cat Contiguous "
    "WeightNormInterface".split()
)


def operation(node: Node) -> str:
    """`LogBackward0` -> `Log`."""
    return _short(node.name())


@lru_cache(maxsize=1024)
def _short(name: str) -> str:
    return re.sub(r"Backward\d*$", "", name.removeprefix("torch::autograd::"))


def is_leaf(node: Node) -> bool:
    return operation(node) == _LEAF


def is_custom(node: Node) -> bool:
    """Whether it is a `torch.autograd.Function` written in Python."""
    return type(node).__module__ == "torch.autograd.function"


def variable(node: Node) -> torch.Tensor | None:
    """The parameter, or other tensor that wants a gradient, which a leaf stands for."""
    tensor = getattr(node, "variable", None)
    return tensor if isinstance(tensor, torch.Tensor) else None


def inputs(node: Node) -> Iterator[tuple[Node, int]]:
    """The operations whose results went in, and which of their results; what has no gradient is left out."""
    for source, output in node.next_functions:
        if source is not None:
            yield source, output


def takes_constant(node: Node) -> bool:
    """Whether something went in that wants no gradient: data, a mask, a number."""
    return any(source is None for source, _ in node.next_functions)


def output_dtype(node: Node) -> torch.dtype | None:
    """Of its first result, which is known without the result itself."""
    metadata = getattr(node, "_input_metadata", None)
    dtype = getattr(metadata[0], "dtype", None) if metadata else None
    return dtype if isinstance(dtype, torch.dtype) else None


def output_shape(node: Node) -> object:
    """The sizes of its first result; None where they are not known."""
    metadata = getattr(node, "_input_metadata", None)
    return getattr(metadata[0], "shape", None) if metadata else None


def setting(node: Node, name: str) -> object:
    """A number or a size the operation was called with; never a tensor, which may stand behind a hook."""
    return None if hasattr(type(node), f"_raw_saved_{name}") else getattr(node, f"_saved_{name}", None)


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes from the inputs to the loss, each after all it was computed from.

    `complete` is False when there were more than could be walked; those nearest to the loss are here.
    """

    nodes: tuple[Node, ...]
    consumers: dict[Node, list[Node]]
    complete: bool

    def leaves(self) -> dict[int, torch.Tensor]:
        """The tensors it is computed from, by id, in its order."""
        tensors = map(variable, filter(is_leaf, self.nodes))
        return {id(tensor): tensor for tensor in tensors if tensor is not None}

    def below(self, node: Node) -> set[Node]:
        """All operations that this one was computed from."""
        return reached([node], lambda at: (source for source, _ in inputs(at) if source in self.consumers))

    def above(self, node: Node) -> set[Node]:
        """All operations that were computed from this one."""
        return reached([node], lambda at: self.consumers[at])


def walk(root: Node, deadline: float) -> Graph:
    """Gather the graph behind a node, breadth first."""
    consumers: dict[Node, list[Node]] = {root: []}
    waiting, complete = deque([root]), True
    while waiting:
        if monotonic() > deadline:
            complete = False
            break
        node = waiting.popleft()
        for source, _ in inputs(node):
            if source not in consumers:
                if len(consumers) >= LIMIT:
                    complete = False
                    continue
                consumers[source] = []
                waiting.append(source)
            consumers[source].append(node)
    return Graph(tuple(_inputs_first(root, consumers)), consumers, complete)


def moment(node: Node) -> int:
    """When the operation ran: nodes count up as the forward pass makes them."""
    number = getattr(node, "_sequence_nr", None)
    return -1 if number is None or is_leaf(node) else int(number())


class LayerUses:
    """Which layer an operation belongs to, by the parameters it uses; a compiled part has many."""

    def __init__(
        self, graph: Graph, layer_of: Callable[[torch.Tensor], str], trained: Iterable[torch.Tensor] = ()
    ) -> None:
        self.graph = graph
        self.parameters: dict[Node, torch.Tensor] = {}
        self.users: dict[Node, list[Node]] = {}
        self._layers_used: dict[Node, list[str]] = {}
        trained_ids = {id(tensor) for tensor in trained}
        for leaf in filter(is_leaf, graph.nodes):
            tensor = variable(leaf)
            # A leaf can also be an input whose gradient is wanted.
            if tensor is None or not (isinstance(tensor, torch.nn.Parameter) or id(tensor) in trained_ids):
                continue
            self.parameters[leaf] = tensor
            self.users[leaf] = self._users(leaf)
            for user in self.users[leaf]:
                self._layers_used.setdefault(user, []).append(layer_of(tensor))

    def layer(self, node: Node) -> str:
        """The layer whose parameters the operation uses."""
        return self._layers_used[node][0] if node in self._layers_used else ""

    def weights(self, node: Node) -> list[torch.Tensor]:
        """The parameters that the operation uses."""
        return [tensor for leaf, tensor in self.parameters.items() if node in self.users[leaf]]

    def layer_before(self, node: Node) -> str:
        """The last layer that ran among those it was computed from."""
        bearing = [source for source in self.graph.below(node) if source in self._layers_used]
        return self._layers_used[max(bearing, key=moment)][-1] if bearing else ""

    def layer_after(self, node: Node) -> str:
        """The first layer that ran among those computed from it."""
        bearing = [consumer for consumer in self.graph.above(node) if consumer in self._layers_used]
        return self._layers_used[min(bearing, key=moment)][0] if bearing else ""

    def _users(self, leaf: Node) -> list[Node]:
        users, waiting, visited = [], [leaf], {leaf}
        while waiting:
            for consumer in self.graph.consumers[waiting.pop()]:
                if consumer in visited:
                    continue
                visited.add(consumer)
                if operation(consumer) in _CARRIERS:
                    waiting.append(consumer)
                else:
                    users.append(consumer)
        return users


def _inputs_first(root: Node, consumers: dict[Node, list[Node]]) -> list[Node]:
    missing = {node: len(users) for node, users in consumers.items()}
    order, ready = [], [root]
    while ready:
        node = ready.pop()
        order.append(node)
        for source, _ in inputs(node):
            if source in missing:
                missing[source] -= 1
                if not missing[source]:
                    ready.append(source)
    return order[::-1]


def reached(starts: Iterable[Node], step: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """All nodes that steps from some nodes lead to."""
    visited: set[Node] = set()
    waiting = list(starts)
    while waiting:
        for node in step(waiting.pop()):
            if node not in visited:
                visited.add(node)
                waiting.append(node)
    return visited
