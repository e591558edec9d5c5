"""Which operation most likely made the gradients non-finite, when the loss itself was finite.

What the operations had saved is gone after the backward pass. What is left: which parameters have finite
gradients, how the operations hang together, and which of them are known for infinite slopes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch.autograd.graph import Node

from traindx.observe.torch.graph import (
    Graph,
    LayerUses,
    inputs,
    is_custom,
    is_leaf,
    moment,
    operation,
    reached,
    setting,
)
from traindx.observe.torch.operations import HARMLESS, plain

_EDGE = "at the edge of its range"
_NEAR_0 = "near 0"
# Known for infinite slopes: how often they are to blame, and where.
_SLOPES: dict[str, tuple[float, str]] = {
    "Sqrt": (10, "at 0"),
    "Hypot": (10, "at 0"),
    "Acos": (10, _EDGE),
    "Asin": (10, _EDGE),
    "Acosh": (10, _EDGE),
    "Atanh": (10, _EDGE),
    "Erfinv": (10, _EDGE),
    "LinalgSvd": (10, "with equal singular values"),
    "LinalgEigh": (10, "with equal eigenvalues"),
    "LinalgEig": (10, "with equal eigenvalues"),
    "Xlogy": (9, "at 0"),
    "Log": (8, _NEAR_0),
    "Log2": (8, _NEAR_0),
    "Log10": (8, _NEAR_0),
    "Log1P": (8, "near -1"),
    "Rsqrt": (8, _NEAR_0),
    "Reciprocal": (8, _NEAR_0),
    "Logit": (8, "near 0 or 1"),
    "Lgamma": (8, _NEAR_0),
    "Digamma": (8, _NEAR_0),
    "Logsumexp": (7, "over nothing but -inf"),
    "Div": (6, "by a number near 0"),
    "Norm": (4, "at 0"),
    "LinalgVectorNorm": (4, "at 0"),
    "Cdist": (4, "at 0"),
    "Std": (4, "of equal values"),
    "Var": (4, "of equal values"),
    "Atan2": (4, "at 0"),
    "Exp": (3, "of a large number"),
    "Expm1": (3, "of a large number"),
    "Sinh": (3, "of a large number"),
    "Cosh": (3, "of a large number"),
    "NativeBatchNorm": (2, "of equal values"),
    "NativeLayerNorm": (2, "of equal values"),
    "NativeGroupNorm": (2, "of equal values"),
}
_CHOICES = frozenset({"Where", "MaskedFill", "Index", "MaskedSelect", "IndexPut", "NanToNum"})
_CHOSEN = 13.0
_HALF_CLEARED = 0.5
# Where these are off they give the gradient 0, whatever came in: a finite gradient behind them proves little.
_GATES = frozenset(
    "Relu Threshold Hardtanh Clamp ClampMin ClampMax Where MaskedFill Maximum Minimum Max Amax Amin Min "
    "MaxPool2DWithIndices AdaptiveMaxPool2D".split()
)


@dataclass(frozen=True, eq=False)
class Suspect:
    """An operation, how much speaks against it, and what hid its values in the forward pass."""

    node: Node
    words: str
    weight: float
    chosen: str = ""


def suspect(
    graph: Graph, layers: LayerUses, finite: Mapping[Node, bool] | None, loss: float | None = None
) -> Suspect | None:
    """The likeliest among the operations that can be it.

    `finite` says whether the gradient of each leaf is; None when that is not known.
    """
    everywhere = {node: 1.0 for node in graph.nodes if not is_leaf(node)}
    candidates = everywhere if finite is None else _candidates(graph, layers, finite)
    rated = [_rated(node, graph, share, loss) for node, share in candidates.items()]
    return max(rated, key=lambda candidate: (candidate.weight, moment(candidate.node)), default=None)


def _candidates(graph: Graph, layers: LayerUses, finite: Mapping[Node, bool]) -> dict[Node, float]:
    """Operations that all the bad gradients passed, and how far they are open to suspicion.

    A finite gradient clears all that it passed on its way from the loss, and a bad one comes from an
    operation that it passed. Parameters that are used several times are bad when any of their uses is.
    """
    users = [user for leaf, good in finite.items() if good for user in layers.users[leaf]]
    cleared, half_cleared = _passed_by(graph, users, _GATES), _passed_by(graph, users)
    bad = [leaf for leaf, good in finite.items() if not good]
    reach = _reach(graph, {leaf: 1 << place for place, leaf in enumerate(bad)})
    everything = (1 << len(bad)) - 1
    shares: dict[Node, float] = {}
    for node in graph.nodes:
        if reach[node] and not is_leaf(node) and not _is_clear(node, cleared, reach):
            shares[node] = _HALF_CLEARED if _is_clear(node, half_cleared, reach) else 1.0
    return {node: share for node, share in shares.items() if reach[node] == everything} or shares


def _is_clear(node: Node, cleared: set[Node], reach: Mapping[Node, int]) -> bool:
    """Finite gradients came in, and went out wherever a bad one could have gone."""
    return node in cleared and all(source in cleared or not reach.get(source) for source, _ in inputs(node))


def _passed_by(graph: Graph, starts: list[Node], stops: frozenset[str] = frozenset()) -> set[Node]:
    """The nodes themselves and all between them and the loss, or the first operation that stops."""
    passed = reached(starts, lambda node: () if operation(node) in stops else graph.consumers[node])
    return passed.union(starts)


def _reach(graph: Graph, marks: Mapping[Node, int]) -> dict[Node, int]:
    """Which of the marked leaves each node was computed from, one bit for each."""
    reach: dict[Node, int] = {}
    for node in graph.nodes:
        bits = marks.get(node, 0)
        for source, _ in inputs(node):
            bits |= reach.get(source, 0)
        reach[node] = bits
    return reach


def _rated(node: Node, graph: Graph, share: float, loss: float | None) -> Suspect:
    name = operation(node)
    weight, words = _SLOPES.get(name, (0.0 if name in HARMLESS else 1.0, ""))
    if name == "Pow":
        weight, words = _power(node)
    if name == "Div" and len(node.next_functions) > 1 and node.next_functions[1][0] is None:
        weight = 1.0
    if is_custom(node):
        weight = 10.0
    # The loss is the result of the last operation.
    if name == "Sqrt" and loss and not graph.consumers[node]:
        weight = 0.0
    chosen, distance = _choice_after(node, graph) if weight > 2 else ("", 0)
    weight = max(weight, _CHOSEN - distance) if chosen else weight
    return Suspect(node, f"{plain(node)} {words}".strip(), weight * share, chosen)


def _power(node: Node) -> tuple[float, str]:
    exponent = setting(node, "exponent")
    if not isinstance(exponent, int | float):
        return 9.0, "with a base of 0 or less"
    if exponent >= 1:
        return 1.0, ""
    return (9.0 if exponent > 0 else 8.0), f"of {exponent:g} {_NEAR_0}"


def _choice_after(node: Node, graph: Graph) -> tuple[str, int]:
    """A `where` that threw bad values away, and how near: it turns the slope to 0, and 0 * inf is NaN."""
    at = node
    for distance in range(1, 6):
        consumers = graph.consumers[at]
        for consumer in consumers:
            if operation(consumer) in _CHOICES:
                return plain(consumer), distance
        if len(consumers) != 1:
            break
        at = consumers[0]
    return "", 0
