"""train() in training, eval() in validation."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import Maker
from traindx.experiment.edit.job import Job, at, function_of
from traindx.experiment.edit.lint_edits import findings, take
from traindx.experiment.edit.result import Uncertain
from traindx.source.execution import Event
from traindx.source.roles import is_module
from traindx.source.values import Made, Value


def force_modes(job: Job, values: Mapping[str, Scalar]) -> str:
    del values
    told = []
    for one in findings(job, "script_mode_not_restored", "script_dropout_always_on"):
        if one.edits:
            take(job.draft, one.edits)
            told.append(one.text)
        elif "nothing calls train()" in one.text:
            told.append(_train(job))
    told += _evaluate(job)
    if not told:
        raise Uncertain(
            "The script seems to switch between train() and eval() at the right places: "
            "see that each of them is reached."
        )
    return " ".join(dict.fromkeys(told))


def _evaluate(job: Job) -> list[str]:
    """eval() before the passes over validation data, train() before the training goes on."""
    told = []
    seen = {place.line for one in findings(job, "script_eval_missing") for place in one.places[:1]}
    events = [
        e
        for e in job.training.trace.events
        if e.spot.line in seen and e.value.kind == "apply" and not _in_model(e)
    ]
    for event in {id(e.spot.node): e for e in events}.values():
        told.append(_switch(job, event))
    return told


def _train(job: Job) -> str:
    """train() before each pass over the training data; in a function of its own, at its start."""
    loop = job.iteration().loop
    source, node = loop.spot.source, loop.spot.node
    for event in job.training.trace.events:
        called = event.spot.node.func if isinstance(event.spot.node, ast.Call) else None
        inside = loop in event.loops and not event.grad_off and not _in_model(event)
        if event.value.kind != "apply" or not inside or not is_module(event.value.receiver):
            continue
        if not isinstance(called, ast.Name | ast.Attribute) or _is_loss(event.value.receiver):
            continue
        name = job.draft.text(event.spot.source, called)
        function = function_of(event.spot.source, event.spot.node)
        if event.spot.source is source and function is function_of(source, node):
            if isinstance(node, ast.For | ast.While):
                job.draft.before(source, node, f"{name}.train()")
                return f"{name}.train() before line {node.lineno}."
        elif isinstance(function, ast.FunctionDef) and _only_trains(job, event):
            first = function.body[1 if ast.get_docstring(function) and len(function.body) > 1 else 0]
            job.draft.before(event.spot.source, first, f"{name}.train()")
            return f"{name}.train() before line {first.lineno}."
    raise Uncertain("Call train() on the model before each pass over the training data.", at(loop.spot))


def _is_loss(value: Value | None) -> bool:
    return isinstance(value, Made) and value.short.endswith("Loss")


def _only_trains(job: Job, event: Event) -> bool:
    """Whether a call of the model is never made with gradients off."""
    same = [e for e in job.training.trace.events if e.spot.node is event.spot.node]
    return not any(e.grad_off for e in same)


def _in_model(event: Event) -> bool:
    """Whether a call stands in the model's own pass."""
    function = function_of(event.spot.source, event.spot.node)
    return getattr(function, "name", "") in ("forward", "__call__")


def _switch(job: Job, event: Event) -> str:
    source, node = event.spot.source, event.spot.node
    model = node.func if isinstance(node, ast.Call) else None
    if not isinstance(model, ast.Name | ast.Attribute):
        raise Uncertain(
            "Call eval() on the model before this line, train() before training goes on.", at(event.spot)
        )
    name = job.draft.text(source, model)
    block = _outermost(source.parents, node)
    if block is None:
        raise Uncertain(f"Call {name}.eval() before this line.", at(event.spot))
    job.draft.before(source, block, f"{name}.eval()")
    told = f"{name}.eval() before line {block.lineno}."
    if not _trained_again(job):
        if any(isinstance(n, ast.Return) for n in ast.walk(block)):
            raise Uncertain(f"Call {name}.eval() before this line, {name}.train() after it.", at(event.spot))
        job.draft.after(source, block, f"{name}.train()")
        told = f"{name}.eval() before line {block.lineno} and {name}.train() after it."
    return told


def _outermost(parents: dict[ast.AST, ast.AST], node: ast.AST) -> ast.stmt | None:
    """The `with` or loop of the validation: the outermost in its function that is not a training loop."""
    found: ast.stmt | None = None
    at_node: ast.AST | None = node
    while at_node is not None and not isinstance(
        at_node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    ):
        if (isinstance(at_node, ast.With | ast.For | ast.While) and not _trains(at_node)) or (
            isinstance(at_node, ast.stmt)
            and found is None
            and not isinstance(at_node, ast.With | ast.For | ast.While)
        ):
            found = at_node
        elif isinstance(at_node, ast.With | ast.For | ast.While):
            break
        at_node = parents.get(at_node)
    return found


def _trains(node: ast.AST) -> bool:
    calls = (n.func for n in ast.walk(node) if isinstance(n, ast.Call))
    return any(isinstance(one, ast.Attribute) and one.attr in ("backward", "step") for one in calls)


def _trained_again(job: Job) -> bool:
    """Whether train() is called inside a loop that holds the training: it is switched back each time."""
    loops = {loop for one in job.iterations() for loop in one.step.event.loops}
    return any(loops & set(e.loops) for e in job.training.trace.methods("train"))


MAKERS: dict[str, Maker] = {"force_modes": force_modes}
