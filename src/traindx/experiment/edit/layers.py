"""A layer put behind another one, where that is made."""

from __future__ import annotations

import ast

from traindx.experiment.edit.calls import inserted
from traindx.experiment.edit.job import Job, at, called
from traindx.experiment.edit.names import spelled
from traindx.experiment.edit.result import Uncertain
from traindx.source.script import Source
from traindx.source.values import Spot


def add_layer(job: Job, source: Source, layer: ast.Call, new: str) -> str:
    """A new layer after one that is made by a call: a part of its own where the first is one of an
    nn.Sequential, else both in a new one; the description."""
    around = source.parents.get(layer)
    part = isinstance(around, ast.Call) and layer in around.args and called(around) == "Sequential"
    if not part or not isinstance(around, ast.Call):
        nn = spelled(job.draft, source, "torch.nn")
        job.draft.replace(source, layer, f"{nn}.Sequential({job.draft.text(source, layer)}, {new})")
        return f"{new} behind the layer of line {layer.lineno}"
    index = around.args.index(layer) + 1
    if index < len(around.args):
        start, _ = job.draft.span(source, around.args[index])
        before = source.text[source.text.rfind("\n", 0, start) + 1 : start]
        gap = ",\n" + before if not before.strip() else ", "
        job.draft.splice(source, (start, start), new + gap)
    else:
        text = inserted(job.draft.text(source, around), index, new)
        if text is None:
            raise Uncertain(f"Put {new} after this layer.", at(Spot(source, layer)))
        job.draft.rewrite(source, around, text)
    return f"{new} after line {layer.lineno}"
