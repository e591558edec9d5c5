"""train() in training, eval() in validation."""

from __future__ import annotations

import ast

from traindx.experiment.edit.job import Job
from traindx.experiment.edit.lint_edits import findings, take_edits
from traindx.experiment.edit.nodes import last_name, receiver
from traindx.experiment.edit.result import Uncertain
from traindx.source.execution import CallEvent
from traindx.source.roles import is_module
from traindx.source.values import Made, Value


def force_modes(job: Job) -> str:
    detectors = ("script_mode_not_restored", "script_dropout_always_on")
    descriptions = take_edits(job, *detectors)
    unfixed = (finding for finding in findings(job, *detectors) if not finding.edits)
    descriptions += [_train(job) for finding in unfixed if "nothing calls train()" in finding.text]
    descriptions += _evaluate(job)
    if not descriptions:
        raise Uncertain(
            "The script seems to switch between train() and eval() at the right places: "
            "check that each of these calls is reached."
        )
    return " ".join(dict.fromkeys(descriptions))


def _evaluate(job: Job) -> list[str]:
    """eval() before the passes over validation data, train() before the training continues."""
    lines = {place.line for finding in findings(job, "script_eval_missing") for place in finding.places[:1]}
    events = [
        e
        for e in job.training.trace.events
        if e.spot.line in lines and e.value.kind == "apply" and not job.in_forward(e.spot.node)
    ]
    return [_switch(job, event) for event in {id(e.spot.node): e for e in events}.values()]


def switch_modes(job: Job) -> list[str]:
    """eval() and train() around validation, for a script that does without them so far."""
    trace = job.training.trace
    if job.training.managed or trace.methods("eval") or trace.methods("train"):
        return []
    events = [
        e
        for e in trace.events
        if e.grad_off
        and e.value.kind == "apply"
        and is_module(e.value.receiver)
        and not job.in_forward(e.spot.node)
    ]
    calls = {id(e.spot.node): e for e in events if not _is_loss(e.value.receiver)}
    return [_switch(job, event).rstrip(".") for event in calls.values()]


def _train(job: Job) -> str:
    """train() before each pass over the training data; in a function of its own, at its start."""
    loop = job.iteration().loop
    node = loop.spot.node
    for event in job.training.trace.events:
        model = event.spot.node.func if isinstance(event.spot.node, ast.Call) else None
        inside = loop in event.loops and not event.grad_off and not job.in_forward(event.spot.node)
        if event.value.kind != "apply" or not inside or not is_module(event.value.receiver):
            continue
        if not isinstance(model, ast.Name | ast.Attribute) or _is_loss(event.value.receiver):
            continue
        name = job.draft.text(model)
        function = job.function_of(event.spot.node)
        if event.spot.source is loop.spot.source and function is job.function_of(node):
            if isinstance(node, ast.For | ast.While):
                job.draft.before(node, f"{name}.train()")
                return f"{name}.train() before line {node.lineno}."
        elif isinstance(function, ast.FunctionDef) and _only_trains(job, event):
            first = function.body[1 if ast.get_docstring(function) and len(function.body) > 1 else 0]
            job.draft.before(first, f"{name}.train()")
            return f"{name}.train() before line {first.lineno}."
    raise Uncertain("Call train() on the model before each pass over the training data.", loop.spot)


def _is_loss(value: Value | None) -> bool:
    return isinstance(value, Made) and value.short.endswith("Loss")


def _only_trains(job: Job, event: CallEvent) -> bool:
    """Whether a call of the model is never made with gradients off."""
    same_calls = [e for e in job.training.trace.events if e.spot.node is event.spot.node]
    return not any(e.grad_off for e in same_calls)


def _switch(job: Job, event: CallEvent) -> str:
    node = event.spot.node
    model = node.func if isinstance(node, ast.Call) else None
    if not isinstance(model, ast.Name | ast.Attribute):
        raise Uncertain(
            "Call eval() on the model before this line, train() before the training continues.",
            event.spot,
        )
    name = job.draft.text(model)
    block = _outermost(job, node)
    if block is None:
        raise Uncertain(f"Call {name}.eval() before this line.", event.spot)
    job.draft.before(block, f"{name}.eval()")
    description = f"{name}.eval() before line {block.lineno}."
    if not _trained_again(job):
        if any(isinstance(n, ast.Return) for n in ast.walk(block)):
            return f"{description} {_train(job)}"
        job.draft.after(block, f"{name}.train()")
        description = f"{name}.eval() before line {block.lineno} and {name}.train() after it."
    return description


def _outermost(job: Job, node: ast.AST) -> ast.stmt | None:
    """The `with` or loop of the validation: the outermost in its function that is not a training loop."""
    outermost: ast.stmt | None = None
    for around in (node, *job.ancestors(node)):
        if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            break
        if isinstance(around, ast.With | ast.For | ast.While):
            if _trains(around):
                break
            outermost = around
        elif isinstance(around, ast.stmt) and outermost is None:
            outermost = around
    return outermost


def _trains(node: ast.AST) -> bool:
    return any(receiver(n) is not None and last_name(n) in ("backward", "step") for n in ast.walk(node))


def _trained_again(job: Job) -> bool:
    """Whether train() is called in a loop around the training, so that it is switched back each time."""
    loops = {loop for iteration in job.iterations() for loop in iteration.step.event.loops}
    return any(loops & set(e.loops) for e in job.training.trace.methods("train"))
