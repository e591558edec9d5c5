"""Inputs brought to mean 0 and deviation 1, by the training data's own numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.core import Scalar
from traindx.script.anchors_of_data import dataset, validated
from traindx.script.parameters import held
from traindx.script.source import Source
from traindx.script.values import Made, Spot
from traindx.trial.editing.changes import Maker
from traindx.trial.editing.job import Job, at, call_of, function_of, statement_of
from traindx.trial.editing.names import fresh
from traindx.trial.editing.result import Uncertain

_WORDS = (
    "Subtract the mean of the training inputs and divide by their deviation, "
    "in training and validation alike."
)
_CASTS = frozenset("tensor from_numpy as_tensor FloatTensor Tensor float to astype copy".split())


def normalise_inputs(job: Job, values: Mapping[str, Scalar]) -> str:
    """Mean and deviation of the training inputs are taken once, and used for all inputs."""
    del values
    source, train = _trained(job)
    others = [name for name in _validated(job, source) if name != train]
    if job.training.trace.methods("fit_transform", "fit"):
        raise Uncertain("The inputs seem to be scaled already: look at what reaches the model.")
    names = [train, *dict.fromkeys(others)]
    bound = [_binding(source, name) for name in names]
    last = max(bound, key=lambda one: one.lineno)
    if len({function_of(source, one) for one in bound}) != 1:
        raise Uncertain(_WORDS, at(Spot(source, last)))
    return _insert(job, source, names, last)


def _base(node: ast.expr) -> str:
    """The name behind casts and parts: `torch.tensor(x)` -> `x`."""
    for _ in range(6):
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CASTS:
            library = isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "np", "numpy")
            if library and not node.args:
                break
            node = node.args[0] if library else node.func.value
        else:
            break
    raise Uncertain(_WORDS)


def _trained(job: Job) -> tuple[Source, str]:
    """The name of all training inputs."""
    made = dataset(job.training)
    if isinstance(made, Made) and made.short == "TensorDataset" and made.args:
        source, call = call_of(made)
        return source, _base(call.args[0])
    loops = [one.loop for one in job.iterations()]
    for event in job.training.trace.events:
        node = event.spot.node
        if event.value.kind != "apply" or not isinstance(node, ast.Call) or not node.args:
            continue
        if any(loop in event.loops for loop in loops) and isinstance(node.args[0], ast.Subscript):
            return event.spot.source, _base(node.args[0])
    raise Uncertain(_WORDS)


def _validated(job: Job, source: Source) -> list[str]:
    """The names of all inputs the model is tried on; raises Uncertain when some are not plain names."""
    other = validated(job.training)
    found = []
    if isinstance(other, Made) and other.short == "TensorDataset" and other.args:
        there, call = call_of(other)
        if there is not source:
            raise Uncertain(_WORDS, at(other.spot))
        found.append(_base(call.args[0]))
    elif other is not None:
        raise Uncertain(_WORDS, at(other.spot))
    ours = held(job.training)
    for event in job.training.trace.events:
        node = event.spot.node
        if id(event.value.receiver) not in ours:
            continue
        outer = event.value.kind == "apply" and isinstance(node, ast.Call) and not _in_model(event.spot)
        if not outer or not event.grad_off or not isinstance(node, ast.Call) or not node.args:
            continue
        if any(function_of(event.spot.source, node) is f for f in event.functions) and not found:
            continue
        name = _base(node.args[0])
        if _looped(event.spot, name):
            continue
        found.append(name)
    return found


def _in_model(spot: Spot) -> bool:
    return getattr(function_of(spot.source, spot.node), "name", "") in ("forward", "__call__")


def _looped(spot: Spot, name: str) -> bool:
    """Whether a name is what a loop gives: a batch of a loader that is looked at by itself."""
    return any(
        isinstance(n, ast.For) and any(isinstance(t, ast.Name) and t.id == name for t in ast.walk(n.target))
        for n in ast.walk(spot.source.tree)
    )


def _binding(source: Source, name: str) -> ast.stmt:
    """The one statement, in no loop, that binds a name."""
    found = [
        statement_of(Spot(source, n))
        for n in ast.walk(source.tree)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
    ]
    given = any(isinstance(n, ast.arg) and n.arg == name for n in ast.walk(source.tree))
    inside = [one for one in found if isinstance(source.parents.get(one), ast.Module | ast.FunctionDef)]
    if len(found) != 1 or len(inside) != 1 or given:
        raise Uncertain(_WORDS, at(Spot(source, found[0])) if found else None)
    return found[0]


def _insert(job: Job, source: Source, names: list[str], last: ast.stmt) -> str:
    block = getattr(source.parents.get(last), "body", [])
    before = block[: block.index(last)] if last in block else []
    used = {
        n.id
        for one in before
        for n in ast.walk(one)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    if used & set(names):
        raise Uncertain(_WORDS, at(Spot(source, last)))
    mean, std, train = fresh(job.draft, source, "input_mean"), fresh(job.draft, source, "input_std"), names[0]
    job.draft.after(
        source,
        last,
        f"{mean}, {std} = {_statistic(job, train, 'mean')}, {_statistic(job, train, 'std')}",
        f"{std}[{std} == 0] = 1",
        *(f"{name} = ({name} - {mean}) / {std}" for name in names),
    )
    return f"{', '.join(names)} normalised by the mean and deviation of {train} after line {last.lineno}."


def _statistic(job: Job, name: str, which: str) -> str:
    """Over the samples; for pictures over the pixels, too."""
    kinds = [
        layer.get("type")
        for model in job.facts.get("models") or ()
        if isinstance(model, dict)
        for layer in (model.get("layer_list") or ())[:1]
        if isinstance(layer, dict)
    ]
    if kinds[:1] == ["Embedding"]:
        raise Uncertain("The inputs are numbers of words or classes: they are not to be scaled.")
    if kinds[:1] == ["Conv2d"]:
        return f"{name}.{which}((0, 2, 3)).reshape(1, -1, 1, 1)"
    return f"{name}.{which}(0)"


MAKERS: dict[str, Maker] = {"normalise_inputs": normalise_inputs}
