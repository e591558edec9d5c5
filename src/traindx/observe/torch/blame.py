"""Which operation made something non-finite of finite numbers, and how."""

from __future__ import annotations

from dataclasses import dataclass

from torch.autograd.graph import Node

from traindx.observe.torch import nonfinite_rules
from traindx.observe.torch.forward import ForwardSearch, Result
from traindx.observe.torch.graph import inputs, is_leaf, moment, operation, takes_constant
from traindx.observe.torch.operations import (
    HARMLESS,
    MASKS,
    PRODUCTS,
    NonfiniteCause,
    Scene,
    may_overflow,
    overflow,
    plain,
)
from traindx.observe.torch.saved import OPAQUE

_JOINS = frozenset("Add Sub Rsub Cat Stack Where IndexPut Copy CopySlices MaskedScatter Lerp Addcmul".split())
_UNSEEN = 4


@dataclass(frozen=True, eq=False)
class BlamedTensor:
    """The operation that did it; `constant` when it was handed something non-finite that has no gradient.

    `hidden` says why nothing could be seen between two operations.
    """

    node: Node
    cause: NonfiniteCause
    constant: str = ""
    hidden: str = ""
    between: tuple[Node, Node] | None = None


def earliest(search: ForwardSearch) -> BlamedTensor | None:
    """The first operation that made something non-finite; None when it is out of reach."""
    results = search.sources()
    if search.late or not all(node in search.saved_tensors for node, _ in results):
        return None
    sources = [_blame(search, result) for result in results]
    return min(sources, key=lambda source: moment(source.node), default=None)


def _blame(search: ForwardSearch, result: Result) -> BlamedTensor:
    node = result[0]
    if is_leaf(node):
        return BlamedTensor(node, NonfiniteCause("input", search.values.get(result)), constant="variable")
    scene = search.scene(node, search.kind(result))
    name, proved = search.constant(node), nonfinite_rules.cause(scene)
    if name and not (proved and proved.words == "0 * inf"):
        return BlamedTensor(
            node, NonfiniteCause(plain(node), search.saved_tensors[node][name]), constant=name
        )
    if proved:
        return BlamedTensor(node, _with_input(search, node, proved))
    if any(search.is_bad(operand) for operand in inputs(node)):
        return BlamedTensor(node, NonfiniteCause(f"-inf of a mask in {plain(node)}"))
    region = search.region(node)
    if any(operation(source) in MASKS for source in region[1:]) and (
        masked := nonfinite_rules.masked_row(scene)
    ):
        return BlamedTensor(node, masked)
    return _likeliest(search, scene, region)


def _likeliest(search: ForwardSearch, scene: Scene, region: list[Node]) -> BlamedTensor:
    weights = {node: _suspicion(search, node, scene) for node in region}
    best = max(region, key=lambda node: (weights[node], moment(node)))
    hidden = next((why for why in map(search.saved.hidden, region) if why), "")
    if hidden and (len(region) > 1 or operation(best) in OPAQUE):
        first = min(region, key=moment)
        return BlamedTensor(best, NonfiniteCause(plain(best)), hidden=hidden, between=(first, scene.node))
    if weights[best] == _UNSEEN:
        return BlamedTensor(best, NonfiniteCause(plain(best)), constant="unseen")
    if weights[best] > _UNSEEN or scene.output in ("inf", "-inf"):
        return BlamedTensor(best, _with_input(search, best, overflow(search.scene(best))))
    return BlamedTensor(best, _with_input(search, best, NonfiniteCause(f"NaN from {plain(best)}")))


def _suspicion(search: ForwardSearch, node: Node, scene: Scene) -> float:
    """How likely an operation is to have made what was first seen in the result of `scene`."""
    name = operation(node)
    if may_overflow(search.scene(node)):
        return 5
    # Finite numbers do not add up to NaN, so what was not seen is to blame.
    if name in _JOINS and takes_constant(node) and scene.output == "nan":
        return _UNSEEN
    if node is scene.node and scene.output != "nan" and name not in HARMLESS:
        return 3
    if name in HARMLESS:
        return 0
    return 1 if name in PRODUCTS or name in _JOINS else 2


def _with_input(search: ForwardSearch, node: Node, cause: NonfiniteCause) -> NonfiniteCause:
    """Show the numbers of the operands rather than those of the result."""
    if cause.tensor is not None and cause.of == "input":
        return cause
    operands = [
        search.values[operand]
        for operand in inputs(node)
        if operand in search.values and not is_leaf(operand[0])
    ]
    return NonfiniteCause(cause.words, operands[0]) if operands else cause
