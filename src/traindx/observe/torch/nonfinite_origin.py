"""Where the first NaN or inf came from, read from the autograd graph: nothing is run again or changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

import torch
from torch.autograd.graph import Node

from traindx.observe.clock import monotonic
from traindx.observe.torch import nonfinite_words
from traindx.observe.torch.blame import BlamedTensor, earliest
from traindx.observe.torch.finite import kind, numbers, positions
from traindx.observe.torch.forward import ForwardSearch
from traindx.observe.torch.graph import Graph, LayerUses, operation, output_dtype, walk
from traindx.observe.torch.operations import PRODUCTS, largest, plain
from traindx.observe.torch.saved import OPAQUE
from traindx.observe.torch.suspects import Suspect, suspect

Where = Literal["input", "weights", "forward", "backward", "loss", "unknown"]
LayerOf = Callable[[torch.Tensor], str]
_SECONDS = 2.0
_HIGH_SCALE = 128.0
_LISTED = 50


@dataclass(frozen=True)
class NonfiniteOrigin:
    """Where it came from, in one line and in parts.

    `layer` is the layer the operation belongs to, if it uses parameters of one; `layer_before` and
    `layer_after` are the nearest ones in the order of the forward pass. `numbers` describe what went into it.
    """

    where: Where
    text: str
    operation: str = ""
    layer_before: str = ""
    layer_after: str = ""
    numbers: Mapping[str, object] = field(default_factory=dict)
    layer: str = ""
    node: str = ""

    def data(self) -> dict[str, object]:
        """The parts that are known, for the recording; the text is stored next to them."""
        return {key: value for key, value in asdict(self).items() if key != "text" and value not in ("", {})}


def forward_origin(
    loss: torch.Tensor,
    layer_of: LayerOf,
    parameters: Iterable[torch.Tensor] = (),
    *,
    first_step: bool = False,
    seconds: float = _SECONDS,
) -> NonfiniteOrigin:
    """Where a non-finite loss came from; to be called before `backward` frees what the graph has kept.

    `parameters` are what is trained: some of it the graph may not show (under gradient checkpointing), and
    some may be plain tensors.
    """
    deadline = monotonic() + seconds
    if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
        return NonfiniteOrigin("unknown", "could not look: a CUDA graph is being captured")
    if loss.grad_fn is None:
        return NonfiniteOrigin("unknown", "the loss was not computed from any parameter")
    trained = list(parameters)
    with torch.no_grad():
        graph = walk(loss.grad_fn, deadline)
        layers = LayerUses(graph, layer_of, trained)
        origin = _bad_weights(layers.parameters.values(), layer_of, deadline, first_step=first_step)
        if origin is not None:
            return origin
        search = ForwardSearch(loss, graph, deadline)
        source = earliest(search)
        if source is not None and not source.between and not source.constant:
            return _located(source, layers)
        # What came from outside of the graph may have been computed there, with bad weights.
        origin = _bad_weights(trained, layer_of, deadline, first_step=first_step)
        if origin is not None:
            return origin
        if source is not None:
            return _located(source, layers)
    if search.late:
        return NonfiniteOrigin("unknown", f"could not look: the search was stopped after {seconds:g} s")
    far = f"further back than {len(graph.nodes):,} operations"
    return NonfiniteOrigin("unknown", f"could not look: it came from {far}")


def backward_origin(
    grad_fn: Node,
    parameters: Iterable[torch.Tensor],
    layer_of: LayerOf,
    *,
    loss: float | None = None,
    loss_scale: float | None = None,
    clipped: bool = False,
    seconds: float = _SECONDS,
) -> NonfiniteOrigin:
    """Where non-finite gradients of a finite loss came from; best called before clipping and the step.

    Clipping multiplies every gradient with the norm, so that one NaN is in all of them: `clipped` says so.
    """
    trained = [parameter for parameter in parameters if parameter.grad is not None]
    holds = {id(parameter): kind(parameter.grad) for parameter in trained if parameter.grad is not None}
    every = list(dict.fromkeys(layer_of(parameter) for parameter in trained if holds[id(parameter)]))
    bad = list(
        dict.fromkeys(
            layer_of(parameter) for parameter in trained if holds[id(parameter)] not in (None, "finite")
        )
    )
    if not bad:
        return NonfiniteOrigin("unknown", "all gradients are finite")
    graph = walk(grad_fn, monotonic() + seconds)
    layers = LayerUses(graph, layer_of, trained)
    gradient_kinds = {leaf: holds.get(id(parameter)) for leaf, parameter in layers.parameters.items()}
    finite = {
        leaf: gradient_kind == "finite"
        for leaf, gradient_kind in gradient_kinds.items()
        if gradient_kind is not None
    }
    guilty = None
    if clipped or not all(finite.values()):
        guilty = suspect(graph, layers, None if clipped else finite, loss)
    layer_numbers = {"layers_nonfinite": bad[:_LISTED], "layers_bad": len(bad), "layers_all": len(every)}
    word = "NaN" if "nan" in holds.values() else "inf"
    suffix = f"; the gradients of {nonfinite_words.share(bad, every)} hold {word}"
    if clipped:
        suffix = f"; clipping spread {word} to all gradients"
    half = any(output_dtype(node) == torch.float16 for node in graph.nodes)
    if half and loss_scale is not None and loss_scale >= _HIGH_SCALE:
        return _scaled(guilty, loss_scale, layers, suffix, layer_numbers)
    if clipped and (guilty is None or guilty.weight <= 1):
        return NonfiniteOrigin("backward", f"somewhere in the backward pass{suffix}", numbers=layer_numbers)
    if guilty is None:
        return _unplaced(graph, bad, every, suffix, layer_numbers)
    return _suspected(guilty, layers, suffix, layer_numbers)


def _bad_weights(
    tensors: Iterable[torch.Tensor], layer_of: LayerOf, deadline: float, *, first_step: bool
) -> NonfiniteOrigin | None:
    checked = {id(tensor): tensor for tensor in tensors if monotonic() < deadline}
    kinds = {key: kind(tensor) for key, tensor in checked.items() if monotonic() < deadline}
    bad = [key for key, holds in kinds.items() if holds not in (None, "finite")]
    if not bad:
        return None
    every = list(dict.fromkeys(map(layer_of, checked.values())))
    names = list(dict.fromkeys(layer_of(checked[key]) for key in bad))
    word = "NaN" if any(kinds[key] == "nan" for key in bad) else "inf"
    writer = "they were made so" if first_step else "the step before wrote them"
    text = (
        f"the weights of {nonfinite_words.share(names, every)} held {word} before the forward pass: {writer}"
    )
    layer_numbers = {"layers_nonfinite": names[:_LISTED], "layers_bad": len(names), "layers_all": len(every)}
    return NonfiniteOrigin("weights", text, layer=names[0], numbers=layer_numbers)


def _located(source: BlamedTensor, layers: LayerUses) -> NonfiniteOrigin:
    node, words = source.node, source.cause.words
    layer, layer_before, layer_after = layers.layer(node), layers.layer_before(node), layers.layer_after(node)
    if source.between:
        first, last = source.between
        layer_before, layer_after = layers.layer_before(first), layers.layer_after(last)
        place = nonfinite_words.between(layer_before, layer_after)
        text = f"somewhere {place}; could not look closer: {source.hidden}"
        return NonfiniteOrigin("forward", text, "", layer_before, layer_after)
    place = nonfinite_words.place(layer, layer_before, layer_after)
    statistics = numbers(source.cause.tensor) if source.cause.tensor is not None else {}
    if source.constant:
        statistics |= _spread(source)
        text = f"{nonfinite_words.handed(source.constant, plain(node), in_layer=bool(layer))}, {place}"
        text += f": {nonfinite_words.counted(statistics)}" if statistics else ""
        return NonfiniteOrigin(
            "input", text, words, layer_before, layer_after, statistics, layer, node.name()
        )
    text = f"{words} in {node.name()}, {place}"
    text += f": {source.cause.of} {nonfinite_words.ranged(statistics)}" if statistics else ""
    if operation(node) in PRODUCTS and layers.weights(node):
        statistics["weights_max"] = max(map(largest, layers.weights(node)))
        text += f", weights up to {statistics['weights_max']:.4g}"
    return NonfiniteOrigin(
        "forward" if layer or layer_after else "loss",
        text,
        words,
        layer_before,
        layer_after,
        statistics,
        layer,
        node.name(),
    )


def _spread(source: BlamedTensor) -> dict[str, object]:
    """In which rows and features of a batch it is, where the shape leaves no doubt which is which."""
    tensor = source.cause.tensor
    convolution = "Convolution" in source.node.name()
    positions_of_bad: dict[str, object] = {}
    if tensor is None or tensor.ndim == 0:
        return positions_of_bad
    for name, dim in (("rows", 0), ("features", 1 if convolution else -1)):
        if tensor.ndim > 1 if name == "features" else tensor.ndim <= 2 or convolution:
            bad = positions(tensor, dim)
            positions_of_bad |= {
                name: bad[:_LISTED],
                f"{name}_bad": len(bad),
                f"{name}_all": tensor.shape[dim],
            }
    return positions_of_bad


def _suspected(
    guilty: Suspect, layers: LayerUses, suffix: str, layer_numbers: Mapping[str, object]
) -> NonfiniteOrigin:
    node = guilty.node
    layer, layer_before, layer_after = layers.layer(node), layers.layer_before(node), layers.layer_after(node)
    place = nonfinite_words.place(layer, layer_before, layer_after)
    hidden = OPAQUE.get(operation(node), "")
    if hidden:
        text = f"the backward pass {place}; could not look closer: {hidden}{suffix}"
        return NonfiniteOrigin("backward", text, "", layer_before, layer_after, layer_numbers, layer)
    if guilty.weight <= 1:
        text = f"overflow in the backward pass, likely of {guilty.words} ({node.name()}) {place}{suffix}"
    else:
        hides = f", whose values {guilty.chosen} hides: 0 * inf is NaN" if guilty.chosen else ""
        text = f"likely the backward of {guilty.words} ({node.name()}) {place}{hides}{suffix}"
    return NonfiniteOrigin(
        "backward", text, guilty.words, layer_before, layer_after, layer_numbers, layer, node.name()
    )


def _scaled(
    guilty: Suspect | None,
    loss_scale: float,
    layers: LayerUses,
    suffix: str,
    layer_numbers: Mapping[str, object],
) -> NonfiniteOrigin:
    words = "float16 overflow of scaled gradients"
    text = f"{words} is likely, at loss scale {loss_scale:g}{suffix}"
    if guilty is None:
        return NonfiniteOrigin("backward", text, words, numbers=layer_numbers)
    node = guilty.node
    layer, layer_before, layer_after = layers.layer(node), layers.layer_before(node), layers.layer_after(node)
    if guilty.weight > 1:
        text += f"; if it stays at a low scale, the backward of {guilty.words} ({node.name()})"
    return NonfiniteOrigin(
        "backward", text, words, layer_before, layer_after, layer_numbers, layer, node.name()
    )


def _unplaced(
    graph: Graph, bad: list[str], every: list[str], suffix: str, layer_numbers: Mapping[str, object]
) -> NonfiniteOrigin:
    """The graph does not hold the parameters: only their order is left."""
    hidden = next((OPAQUE[name] for name in map(operation, graph.nodes) if name in OPAQUE), "")
    why = f"; could not look closer: {hidden}" if hidden else ""
    last = every.index(bad[-1])
    layer_after = every[last + 1] if last + 1 < len(every) else ""
    text = f"the backward pass {nonfinite_words.between(bad[-1], layer_after)}{why}{suffix}"
    return NonfiniteOrigin("backward", text, "", bad[-1], layer_after, layer_numbers)
