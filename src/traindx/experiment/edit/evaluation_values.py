"""The value that a script computes at each evaluation, and where in the loop over epochs it is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.scopes import stepped, usable
from traindx.experiment.edit.value_sources import behind
from traindx.source.optimizer_sources import sources
from traindx.source.values import Value

_VALIDATION = re.compile(
    r"(^|_)(val|valid|validation|dev|eval|heldout|holdout|test)(_|$)|^v_?loss", re.IGNORECASE
)
_LOSS = re.compile(r"loss|nll|mse|rmse|mae|err|ppl|perplexity", re.IGNORECASE)
_SCORE = re.compile(r"acc|f1|auc|score|iou|bleu|r2", re.IGNORECASE)
_IS_SCORE, _NOT_ONE = 4, 5


@dataclass(frozen=True)
class EvaluationValue:
    """A name, whether higher is better, and the last statement of the block of the loop that computes it."""

    name: str
    higher_is_better: bool
    loop: ast.For | ast.While
    last: ast.stmt


def evaluation_value(job: Job, words: str) -> EvaluationValue:
    """The validation loss that a loop around the training computes, else a score; raises Uncertain."""
    iteration, losses = job.iteration(), _validation_losses(job)
    for loop in reversed(iteration.step.event.loops):
        node = loop.spot.node
        if not isinstance(node, ast.For | ast.While):
            continue
        for name, block in sorted(_names_bound(node), key=lambda bound: _rank(bound[0], losses)):
            if _rank(name, losses) == _NOT_ONE:
                break
            if isinstance(block[-1], ast.Continue | ast.Break | ast.Return):
                raise Uncertain(words, block[-1])
            return EvaluationValue(name, _rank(name, losses) == _IS_SCORE, node, block[-1])
    raise Uncertain(words, iteration.loop.spot)


def _rank(name: str, losses: set[str]) -> int:
    """How sure it is that a name is a validation value: traced to a loss or not, named for one or not."""
    if name in losses:
        return 0 if _VALIDATION.search(name) else 1 if _LOSS.search(name) else 2
    if _VALIDATION.search(name):
        return 3 if _LOSS.search(name) else _IS_SCORE if _SCORE.search(name) else _NOT_ONE
    return _NOT_ONE


def _names_bound(loop: ast.For | ast.While) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Names that the loop binds itself, not in a loop inside it, with the block that they are known in."""
    waiting = [(statement, loop.body) for statement in loop.body]
    while waiting:
        statement, block = waiting.pop(0)
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
            targets = [statement.target]
        elif isinstance(statement, ast.With):
            waiting = [(inner, block) for inner in statement.body] + waiting
        elif isinstance(statement, ast.If):
            waiting = [(inner, statement.body) for inner in statement.body] + waiting
        for target in targets:
            for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(name, ast.Name):
                    yield name.id, block


def _validation_losses(job: Job) -> set[str]:
    """Names that are bound to a loss which was computed without gradients."""
    losses = {id(loss.event.value) for loss in job.training.losses if loss.event.grad_off}
    return {
        bound.name
        for bound in job.training.trace.bindings
        if bound.owner is None and any(id(value) in losses for value in behind([bound.value]))
    }


def optimizer_at(job: Job, value: EvaluationValue, words: str) -> str:
    """The optimizer as the function with the loop names it."""
    optimizers = job.torch_optimizers()
    if len(optimizers) == 1:
        call = call_of(optimizers[0])
        name = job.bound_name(call)
        if name is not None and usable(job, name, call, value.loop):
            return job.draft.text(name)
        step = job.iteration().step.event.spot.node
        same_file = job.file(step) is job.file(value.loop)
        if same_file and job.function_of(step) is job.function_of(value.loop):
            return job.draft.text(stepped(job.iteration()))
    raise Uncertain(words, value.loop)


def model_at(job: Job, value: EvaluationValue, words: str) -> str:
    """The model that the optimizer trains, as the function with the loop names it."""
    models = {
        id(model): model for optimizer in job.optimizers() for model in sources(optimizer) if model.spot
    }
    if len(models) == 1:
        [model] = models.values()
        for node, name in _names_of(job, model):
            if usable(job, name, node, value.loop):
                return job.draft.text(name)
    raise Uncertain(words, value.loop)


def _names_of(job: Job, model: Value) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Names of a model: where it is made, and where it is called."""
    spot = model.spot
    assert spot is not None
    name = job.bound_name(spot.node)
    if name is not None:
        yield spot.node, name
    for event in job.training.trace.events:
        node = event.spot.node
        applied = event.value.kind == "apply" and event.value.receiver is model
        if applied and isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield node, node.func
