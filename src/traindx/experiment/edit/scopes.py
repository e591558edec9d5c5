"""What names of a script can be used at a place of it."""

from __future__ import annotations

import ast

from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.names import assigned
from traindx.experiment.edit.nodes import last_name, receiver
from traindx.experiment.edit.result import Uncertain
from traindx.source.training import Iteration
from traindx.source.values import Made


def stepped(iteration: Iteration) -> ast.expr:
    """The optimizer as the step names it."""
    node = iteration.step.event.spot.node
    if isinstance(node, ast.Call) and iteration.step.scaler is not None and node.args:
        return node.args[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value
    raise Uncertain("The optimizer's step was not found: change it by hand.", iteration.step.event.spot)


def usable(job: Job, expression: ast.expr, made_at: ast.AST, here: ast.AST) -> bool:
    """Whether an expression of names means the same at another place of the file."""
    root: ast.AST = expression
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or job.file(made_at) is not job.file(here):
        return False
    first, second = job.function_of(made_at), job.function_of(here)
    if first is not second and (first is not None or second is None or root.id in assigned(second)):
        return root.id == "self" and isinstance(expression, ast.Attribute)
    return len(job.stores(root.id, first, job.file(here))) <= 1


def parameters_of(job: Job, iteration: Iteration) -> str:
    """The parameters that a step trains, as an expression that holds where the step is taken."""
    step = iteration.step
    optimizers = [
        optimizer for optimizer in step.optimizers if isinstance(optimizer, Made) and optimizer.kind == "call"
    ]
    if len(optimizers) == 1 and len(step.optimizers) == 1:
        call = call_of(optimizers[0])
        parameters = call.args[0] if call.args else None
        model = receiver(parameters) if last_name(parameters) == "parameters" else None
        plain = isinstance(parameters, ast.Call) and not parameters.args and model is not None
        if plain and parameters and model and usable(job, model, call, step.event.spot.node):
            return job.draft.text(parameters)
    optimizer = job.draft.text(stepped(iteration))
    return f'[p for group in {optimizer}.param_groups for p in group["params"]]'
