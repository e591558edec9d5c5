"""Whether attention looks at positions that hold the answer, read from the graph of a loss before backward.

A model that predicts the next token is given it one position further on: an attention map over these tokens
must be zero above its diagonal. The maps that the forward pass kept are read as they are; nothing is run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import torch
from torch.autograd.graph import Node

from traindx.observe.data.targets import IGNORED
from traindx.observe.torch.graph import Graph, inputs, operation, setting
from traindx.observe.torch.saved import Saved

_SOFTMAX = frozenset({"Softmax", "SafeSoftmax"})
_FUSED = "ScaledDot"
_PRODUCTS = frozenset({"Bmm", "Baddbmm", "Mm"})
# Between the scores and their softmax: scales, masks, position biases.
_BETWEEN = frozenset(
    "Div Mul Add Sub Where MaskedFill View UnsafeView Reshape ReshapeAlias ToCopy Expand Clone".split()
)
_MAPS, _ROWS = 16, 16
_LEAST_TOKENS, _SAME = 32, 0.95
# What counts as nothing: half precision rounds a masked score to this at most.
_NOTHING = 1e-4


def lookahead(graph: Graph, target: torch.Tensor) -> dict[str, object] | None:
    """Of the attention maps over the tokens to be predicted, how many see later ones, and how much of them.

    None where the targets are not the next tokens of an embedding's input, or no such map was kept.
    """
    saved = Saved()
    embeddings = {
        node: width
        for node in graph.nodes
        if operation(node) == "Embedding" and (width := _width(saved.read(node).get("indices"), target))
    }
    if not embeddings:
        return None
    widths = set(embeddings.values())
    maps: list[tuple[float, set[Node]]] = []
    for node in graph.nodes:
        if len(maps) >= _MAPS:
            break
        share = _seen_ahead(node, saved, widths, graph.consumers[node])
        read = set() if share is None else _read_by(node, graph, set(embeddings))
        if share is not None and read:
            maps.append((share, read))
    # An encoder may read what a decoder, which cannot look ahead, is to write again.
    decoded = {one for share, read in maps if share <= _NOTHING for one in read}
    shares = [share for share, read in maps if not decoded or read & decoded]
    if not shares:
        return None
    return {"maps": len(shares), "open": sum(share > _NOTHING for share in shares), "share": max(shares)}


def _read_by(node: Node, graph: Graph, embeddings: set[Node]) -> set[Node]:
    """The embeddings that the keys of an attention are computed from."""
    return {embedding for key in _keys(node) for embedding in graph.below(key) & embeddings}


def _width(tokens: torch.Tensor | None, target: torch.Tensor) -> int:
    """The length of the rows of tokens, if the targets are the tokens that follow; else 0."""
    if tokens is None or tokens.dim() != 2 or target.is_floating_point():
        return 0
    rows, width = tokens.shape
    length = target.numel() // max(1, rows)
    if width < 4 or length not in (width, width - 1) or target.numel() != rows * length:
        return 0
    wanted = target.detach().reshape(rows, length)[:_ROWS, : width - 1]
    following = tokens.detach()[:_ROWS, 1:].to(wanted.device)
    counted = (wanted != IGNORED) & (wanted != 0)
    same = int(((wanted == following) & counted).sum())
    here = int(((wanted == tokens.detach()[:_ROWS, :-1].to(wanted.device)) & counted).sum())
    total = int(counted.sum())
    return width if total >= _LEAST_TOKENS and same >= _SAME * total and here < _SAME * total else 0


def _seen_ahead(node: Node, saved: Saved, widths: set[int], consumers: Iterable[Node]) -> float | None:
    """The mean attention of the places before the last one to those after them; None for other operations."""
    name = operation(node)
    if name in _SOFTMAX:
        weights = saved.read(node).get("result")
        if weights is None or not _is_square(weights, widths) or _masked_later(consumers, weights, saved):
            return None
        return _above(weights)
    if not name.startswith(_FUSED) or setting(node, "is_causal") is not False:
        return 0.0 if name.startswith(_FUSED) and setting(node, "is_causal") is True else None
    tensors = saved.read(node)
    query, key = tensors.get("query"), tensors.get("key")
    if query is None or key is None or query.shape[-2] != key.shape[-2] or query.shape[-2] not in widths:
        return None
    scores = query[:_ROWS, :1].detach().float() @ key[:_ROWS, :1].detach().float().transpose(-1, -2)
    mask = next((tensors[name] for name in ("attn_mask", "attn_bias") if name in tensors), None)
    if mask is not None:
        mask = mask.detach().float()
        scores = scores + (mask[:_ROWS, :1] if mask.dim() == 4 else mask)
    return _above((scores / query.shape[-1] ** 0.5).softmax(-1))


def _is_square(weights: torch.Tensor, widths: set[int]) -> bool:
    return weights.dim() >= 3 and weights.shape[-1] == weights.shape[-2] and weights.shape[-1] in widths


def _above(weights: torch.Tensor) -> float:
    values = weights.detach().reshape(-1, *weights.shape[-2:])[:_ROWS, :-1].float().nan_to_num()
    return round(float(torch.triu(values, 1).sum(-1).mean()), 6)


def _masked_later(consumers: Iterable[Node], weights: torch.Tensor, saved: Saved) -> bool:
    """Whether what comes after the softmax puts zeros above the diagonal."""
    for node in consumers:
        if operation(node) in ("MaskedFill", "Tril"):
            return True
        for factor in saved.read(node).values() if operation(node) == "Mul" else ():
            if factor is not weights and factor.dim() >= 2 and factor.shape[-2:] == weights.shape[-2:]:
                square = factor.detach().reshape(-1, *factor.shape[-2:])[0].float()
                if not torch.triu(square, 1).any() and bool(torch.tril(square).any()):
                    return True
    return False


def _keys(node: Node) -> Iterator[Node]:
    """The operation that made the keys of an attention."""
    if operation(node) not in _SOFTMAX:
        sources = [source for source, _ in node.next_functions]
        if len(sources) > 1 and sources[1] is not None:
            yield sources[1]
        return
    waiting, seen = deque(source for source, _ in inputs(node)), 0
    while waiting and seen < 12:
        seen += 1
        at = waiting.popleft()
        if operation(at) in _PRODUCTS:
            sources = [source for source, _ in at.next_functions]
            if sources[-1] is not None:
                yield sources[-1]
            return
        if operation(at) in _BETWEEN:
            waiting.extend(source for source, _ in inputs(at))
