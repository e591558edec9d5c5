"""What names of a script can be used at a place of it."""

from __future__ import annotations

import ast

from traindx.experiment.edit.job import Job, at, call_of, function_of
from traindx.experiment.edit.result import Uncertain
from traindx.source.script import Source
from traindx.source.training import Iteration
from traindx.source.values import Made, Spot


def stepped(iteration: Iteration) -> ast.expr:
    """The optimizer as the step names it."""
    node = iteration.step.event.spot.node
    if isinstance(node, ast.Call) and iteration.step.scaler is not None and node.args:
        return node.args[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value
    raise Uncertain("The optimizer's step was not found: change it by hand.", at(iteration.step.event.spot))


def usable(source: Source, expression: ast.expr, made_at: ast.AST, here: ast.AST) -> bool:
    """Whether an expression of names means the same at another place of the file."""
    root: ast.AST = expression
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    first, second = function_of(source, made_at), function_of(source, here)
    if first is second:
        return _stores(source, root.id, first) <= 1
    if first is None and second is not None:
        return root.id not in _local(second) and _stores(source, root.id, None) <= 1
    return root.id == "self" and isinstance(expression, ast.Attribute)


def _local(function: ast.AST) -> set[str]:
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}


def _stores(source: Source, name: str, function: ast.AST | None) -> int:
    """How often a name is bound in a function, or at the top of the file."""
    return sum(
        isinstance(n, ast.Name)
        and n.id == name
        and isinstance(n.ctx, ast.Store)
        and function_of(source, n) is function
        for n in ast.walk(source.tree)
    )


def parameters_of(job: Job, iteration: Iteration) -> str:
    """The parameters that a step trains, as an expression that holds where the step is taken."""
    spot = iteration.step.event.spot
    optimizers = [one for one in iteration.step.optimizers if isinstance(one, Made) and one.kind == "call"]
    if len(optimizers) == 1 and len(iteration.step.optimizers) == 1:
        source, call = call_of(optimizers[0])
        parameters = call.args[0] if call.args else None
        plain = (
            isinstance(parameters, ast.Call)
            and isinstance(parameters.func, ast.Attribute)
            and parameters.func.attr == "parameters"
            and not parameters.args
        )
        if plain and source is spot.source and usable(source, parameters.func.value, call, spot.node):  # type: ignore[union-attr]
            return job.draft.text(source, parameters)  # type: ignore[arg-type]
    optimizer = job.draft.text(spot.source, stepped(iteration))
    return f'[p for group in {optimizer}.param_groups for p in group["params"]]'


def bound_name(source: Source, node: ast.AST) -> ast.expr | None:
    """The name or attribute that a value is given to, when that is all the statement does."""
    around = source.parents.get(node)
    if isinstance(around, ast.Assign) and len(around.targets) == 1 and around.value is node:
        target = around.targets[0]
        return target if isinstance(target, ast.Name | ast.Attribute) else None
    if isinstance(around, ast.AnnAssign) and around.value is node:
        return around.target if isinstance(around.target, ast.Name | ast.Attribute) else None
    return None


def own_statement(spot: Spot) -> ast.stmt:
    """The statement that a call is, by itself; raises Uncertain when it is part of more."""
    around = spot.source.parents.get(spot.node)
    if isinstance(around, ast.Expr):
        return around
    raise Uncertain(f"Line {spot.line} does more than this call: change it by hand.", at(spot))
