"""Assignments: names, attributes, items, and several at once."""

from __future__ import annotations

import ast

from traindx.source.attributes import item
from traindx.source.follow_state import Machine
from traindx.source.scopes import Scope
from traindx.source.values import Const, DictValue, Instance, ListValue, Made, Spot, Value


def assign(
    machine: Machine, scope: Scope, target: ast.expr, value: Value, *, spot: Spot | None = None
) -> None:
    """Give a target its value; `spot` is the statement."""
    from traindx.source.expressions import evaluate

    spot = spot or Spot(scope.source, target)
    if isinstance(target, ast.Name):
        before = scope.find(target.id)
        scope.bind(target.id, value)
        machine.binding(target.id, value, spot, before=before)
    elif isinstance(target, ast.Attribute):
        owner = evaluate(machine, scope, target.value)
        if isinstance(owner, Instance):
            machine.set_attribute(owner, target.attr, value)
        elif isinstance(owner, DictValue):
            owner.items[target.attr] = value
        machine.binding(target.attr, value, spot, owner=owner)
    elif isinstance(target, ast.Subscript):
        owner, key = evaluate(machine, scope, target.value), evaluate(machine, scope, target.slice)
        if isinstance(owner, DictValue) and isinstance(key, Const):
            owner.items[key.value] = value
        name = str(key.value) if isinstance(key, Const) else "[]"
        machine.binding(name, value, spot, owner=owner)
    elif isinstance(target, ast.Tuple | ast.List):
        for child, part in zip(target.elts, parts(value, target.elts, spot), strict=True):
            inner = child.value if isinstance(child, ast.Starred) else child
            assign(machine, scope, inner, part, spot=spot)


def parts(value: Value, targets: list[ast.expr], spot: Spot) -> list[Value]:
    """A value taken apart into as many pieces as there are targets."""
    star = next((at for at, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    if isinstance(value, ListValue) and not value.open:
        if star is None and len(value.items) == len(targets):
            return list(value.items)
        if star is not None and len(value.items) >= len(targets) - 1:
            rest = len(targets) - 1 - star
            middle = value.items[star : len(value.items) - rest]
            ends = value.items[len(value.items) - rest :] if rest else []
            return [*value.items[:star], ListValue(spot, middle), *ends]
    if star is not None:
        return [Made(spot, "item", "[]", value) for _ in targets]
    return [item(value, Const(spot, at), spot) for at in range(len(targets))]


def run_assign(machine: Machine, scope: Scope, node: ast.Assign) -> str:
    from traindx.source.expressions import evaluate

    value = evaluate(machine, scope, node.value)
    for target in node.targets:
        assign(machine, scope, target, value, spot=Spot(scope.source, node))
    return ""


def run_annotated(machine: Machine, scope: Scope, node: ast.AnnAssign) -> str:
    from traindx.source.expressions import evaluate

    if node.value is not None:
        assign(
            machine, scope, node.target, evaluate(machine, scope, node.value), spot=Spot(scope.source, node)
        )
    return ""


def run_augmented(machine: Machine, scope: Scope, node: ast.AugAssign) -> str:
    from traindx.source.expressions import evaluate

    read = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
    before = evaluate(machine, scope, _loaded(node.target))
    value = evaluate(machine, scope, read)
    spot = Spot(scope.source, node)
    if machine.loops and isinstance(value, Const):
        value = Const(value.spot, value.value, soft=True)  # another number in each turn
    if isinstance(node.target, ast.Name):
        scope.bind(node.target.id, value)
        name, owner = node.target.id, None
    else:
        name = node.target.attr if isinstance(node.target, ast.Attribute) else "[]"
        owner = evaluate(machine, scope, node.target.value)
        length = len(machine.trace.bindings)
        assign(machine, scope, node.target, value, spot=spot)
        del machine.trace.bindings[length:]
    machine.binding(name, value, spot, added=True, owner=owner, before=before)
    return ""


def _loaded(target: ast.expr) -> ast.expr:
    """A target as an expression that is read."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target
