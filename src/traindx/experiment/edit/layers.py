"""A layer put behind another one, where that is made."""

from __future__ import annotations

import ast

from traindx.experiment.edit.calls import inserted
from traindx.experiment.edit.job import Job, at, called, receiver
from traindx.experiment.edit.keras import keras_name, uses_keras
from traindx.experiment.edit.names import spelled
from traindx.experiment.edit.result import Uncertain
from traindx.source.script import Source
from traindx.source.values import Spot


def add_layer(job: Job, source: Source, layer: ast.Call, new: str) -> str:
    """A new layer after one that is made by a call: a part of its own where the first is one of a
    Sequential, else both in a new one; the description."""
    around = source.parents.get(layer)
    parts = (
        around.elts if isinstance(around, ast.List) else around.args if isinstance(around, ast.Call) else []
    )
    part = layer in parts and (isinstance(around, ast.List) or called(around) == "Sequential")
    if not part or around is None:
        return _by_itself(job, source, layer, new)
    index = parts.index(layer) + 1
    if index < len(parts):
        start, _ = job.draft.span(source, parts[index])
        before = source.text[source.text.rfind("\n", 0, start) + 1 : start]
        gap = ",\n" + before if not before.strip() else ", "
        job.draft.splice(source, (start, start), new + gap)
    else:
        text = inserted(job.draft.text(source, around), index, new)
        if text is None:
            raise Uncertain(f"Put {new} after this layer.", at(Spot(source, layer)))
        job.draft.rewrite(source, around, text)
    return f"{new} after line {layer.lineno}"


def _by_itself(job: Job, source: Source, layer: ast.Call, new: str) -> str:
    """After a layer that is no part of a list: added, or called, after it; else both in a Sequential."""
    around = source.parents.get(layer)
    above = source.parents.get(around) if around is not None else None
    words = f"{new} behind the layer of line {layer.lineno}"
    if uses_keras(job):
        if called(around) == "add" and isinstance(above, ast.Expr):
            model = receiver(around)
            assert model is not None
            job.draft.after(source, above, f"{job.draft.text(source, model)}.add({new})")
            return words
        if isinstance(around, ast.Call) and around.func is layer:
            start, end = job.draft.span(source, around)
            job.draft.splice(source, (start, start), f"{new}(")
            job.draft.splice(source, (end, end), ")")
            return words
        name = keras_name(job, source, "keras.Sequential")
        job.draft.replace(source, layer, f"{name}([{job.draft.text(source, layer)}, {new}])")
        return words
    nn = spelled(job.draft, source, "torch.nn")
    job.draft.replace(source, layer, f"{nn}.Sequential({job.draft.text(source, layer)}, {new})")
    return words
