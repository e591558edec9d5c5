"""Normalisation put behind the hidden layers."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.core.facts import facts, word
from traindx.core.nouns import Scalar
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.keras import all_layers, hidden, layer_text, uses_keras
from traindx.experiment.edit.layers import add_layer
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.value_sources import inputs_of
from traindx.source.flow import parametric
from traindx.source.values import Made, Value

_BATCH_NORMS = {
    "Linear": "BatchNorm1d",
    "Conv1d": "BatchNorm1d",
    "Conv2d": "BatchNorm2d",
    "Conv3d": "BatchNorm3d",
}
_SEQUENTIAL = {"Embedding", "LSTM", "GRU", "RNN", "MultiheadAttention"}
_ENOUGH = 8


def insert_norm(job: Job, values: Mapping[str, Scalar]) -> str:
    kind = str(values.get("kind", "auto"))
    if kind not in ("auto", "batch", "layer"):
        raise ValueError(f"no such normalisation: {kind!r}")
    if uses_keras(job):
        return _in_keras(job, "LayerNormalization()" if kind == "layer" else "BatchNormalization()")
    for source in job.script.sources:
        if "load_state_dict" in source.text or "from_pretrained" in source.text:
            raise Uncertain(
                "Weights are loaded under the names the layers have now: put norm layers in by hand."
            )
    hidden = _hidden(job)
    if not hidden:
        raise Uncertain("No hidden layers that could be normalised was found in the script.")
    return sentence([_normalised(job, layer, kind) for layer in hidden])


def _in_keras(job: Job, norm: str) -> str:
    present = [
        layer
        for layer in all_layers(job)
        if layer.short.endswith("Normalization") and layer.short != "Normalization"
    ]
    if present:
        raise Uncertain("The model has normalisation layers already.", present[0].spot)
    return sentence([add_layer(job, call, layer_text(job, call, norm)) for call in map(call_of, hidden(job))])


def _hidden(job: Job) -> list[Made]:
    """Linear and convolutional layers that other layers with parameters follow."""
    last: set[int] = set()
    hidden: dict[int, Made] = {}
    waiting: list[tuple[Value, bool]] = [(x.given, False) for x in job.training.losses if x.event.loops]
    for event in job.training.backwards:
        receiver = event.value.receiver
        waiting += [(receiver, False)] if receiver is not None else []
    visited: set[tuple[int, bool]] = set()
    normed: set[int] = set()
    while waiting and len(visited) < 20_000:
        value, is_followed = waiting.pop()
        if (id(value), is_followed) in visited:
            continue
        visited.add((id(value), is_followed))
        layer = parametric(value)
        if isinstance(layer, Made) and layer.short in _BATCH_NORMS and layer.spot is not None:
            if is_followed and id(value) not in normed:
                hidden.setdefault(id(layer.spot.node), layer)
            else:
                last.add(id(layer.spot.node))
        inner = inputs_of(value)
        if isinstance(layer, Made) and "Norm" in layer.short:
            normed |= {id(origin) for origin in inner}
        waiting += [(origin, is_followed or layer is not None) for origin in inner]
    return [layer for node, layer in hidden.items() if node not in last]


def _normalised(job: Job, layer: Made, kind: str) -> str:
    call = call_of(layer)
    width = argument_node(call, "out_features" if layer.short == "Linear" else "out_channels", 1)
    if width is None or not isinstance(
        width, ast.Name | ast.Constant | ast.Attribute | ast.Subscript | ast.BinOp
    ):
        raise Uncertain("Put a normalisation layer behind this one.", layer.spot)
    if _weights_used(job, call):
        raise Uncertain(
            "Put a normalisation layer behind this one; the script uses its weights by name.", layer.spot
        )
    norm = _norm(job, layer.short, kind, job.draft.text(width))
    return add_layer(job, call, f"{job.spelled(call, 'torch.nn')}.{norm}")


def _norm(job: Job, layer: str, kind: str, width: str) -> str:
    """The norm that the change at run time inserts for a kind of layer."""
    if kind == "batch" or (layer != "Linear" and kind == "auto") or (kind == "auto" and _large_batches(job)):
        return f"{_BATCH_NORMS[layer]}({width})"
    return f"LayerNorm({width})" if layer == "Linear" else f"GroupNorm(1, {width})"


def _large_batches(job: Job) -> bool:
    """Whether the recording shows tables or images in batches that batch norm is sure with."""
    size = job.run.settings.get("batch_size") if job.run is not None else None
    kinds = {
        word(layer, "type")
        for model in facts(job.facts.get("models"))
        for layer in facts(model.get("layer_list"))
    }
    return isinstance(size, int | float) and size >= _ENOUGH and bool(kinds) and not kinds & _SEQUENTIAL


def _weights_used(job: Job, call: ast.Call) -> bool:
    """Whether the script uses weights or sizes of the layer by the layer's name."""
    around = job.parent(call)
    target = around.targets[0] if isinstance(around, ast.Assign) else None
    if not isinstance(target, ast.Attribute):
        return False
    return any(
        isinstance(n, ast.Attribute)
        and n.attr in ("weight", "bias", "in_features", "out_features", "out_channels")
        and isinstance(n.value, ast.Attribute)
        and n.value.attr == target.attr
        for n in ast.walk(job.file(call).tree)
    )
