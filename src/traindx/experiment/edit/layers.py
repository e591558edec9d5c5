"""A layer put behind another one, where that is made."""

from __future__ import annotations

import ast

from traindx.experiment.edit.job import Job
from traindx.experiment.edit.keras import keras_name, uses_keras
from traindx.experiment.edit.nodes import last_name, receiver
from traindx.experiment.edit.result import Uncertain


def add_layer(job: Job, layer: ast.Call, new: str) -> str:
    """A new layer after one that is made by a call: a part of its own where the first is one of a
    Sequential, else both in a new one; the description."""
    around = job.parent(layer)
    parts: list[ast.expr] = []
    if isinstance(around, ast.List):
        parts = around.elts
    elif isinstance(around, ast.Call) and last_name(around) == "Sequential":
        parts = around.args
    if layer not in parts:
        return _by_itself(job, layer, new)
    index = parts.index(layer) + 1
    if index == len(parts):
        raise Uncertain(f"Put {new} after this layer.", layer)
    start, _ = job.draft.span(parts[index])
    front = job.file(layer).text[:start].rpartition("\n")[2]
    job.draft.wrap(parts[index], new + (",\n" + front if not front.strip() else ", "), "")
    return f"{new} after line {layer.lineno}"


def _by_itself(job: Job, layer: ast.Call, new: str) -> str:
    """After a layer that is no part of a list: added, or called, after it; else both in a Sequential."""
    around = job.parent(layer)
    above, model = job.parent(around), receiver(around)
    if not uses_keras(job):
        job.draft.wrap(layer, f"{job.spelled(layer, 'torch.nn')}.Sequential(", f", {new})")
    elif last_name(around) == "add" and isinstance(above, ast.Expr) and model is not None:
        job.draft.after(above, f"{job.draft.text(model)}.add({new})")
    elif isinstance(around, ast.Call) and around.func is layer:
        job.draft.wrap(around, f"{new}(", ")")
    else:
        job.draft.wrap(layer, f"{keras_name(job, layer, 'keras.Sequential')}([", f", {new}])")
    return f"{new} behind the layer of line {layer.lineno}"
