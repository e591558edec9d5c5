"""Expressions -> values."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable

from traindx.source.attributes import attribute, element, item
from traindx.source.calling import call
from traindx.source.certain_tests import compared, truth
from traindx.source.execution import Loop
from traindx.source.follow_state import Machine
from traindx.source.scopes import Scope
from traindx.source.values import (
    Arguments,
    Class,
    Const,
    DictValue,
    Function,
    ListValue,
    Made,
    Named,
    Spot,
    Super,
    Unknown,
    Value,
    either,
)

_FOLDED: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_LARGEST = 1e12


def evaluate(machine: Machine, scope: Scope, node: ast.expr) -> Value:
    """The value of an expression; the calls in it are noted on the way."""
    machine.spend()
    handler = _HANDLERS.get(type(node))
    if handler is not None:
        return handler(machine, scope, node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            evaluate(machine, scope, child)
    return Unknown(Spot(scope.source, node))


def _constant(_machine: Machine, scope: Scope, node: ast.Constant) -> Value:
    value = None if node.value is ... else node.value
    return Const(Spot(scope.source, node), value)


def _name(_machine: Machine, scope: Scope, node: ast.Name) -> Value:
    value = scope.find(node.id)
    if value is not None:
        return value
    spot = Spot(scope.source, node)
    return Named(spot, node.id) if hasattr(builtins, node.id) else Unknown(spot, node.id)


def _attribute(machine: Machine, scope: Scope, node: ast.Attribute) -> Value:
    return attribute(machine, evaluate(machine, scope, node.value), node.attr, Spot(scope.source, node))


def _subscript(machine: Machine, scope: Scope, node: ast.Subscript) -> Value:
    of, key = evaluate(machine, scope, node.value), evaluate(machine, scope, node.slice)
    spot = Spot(scope.source, node)
    return _sliced(of, node.slice, spot) if isinstance(node.slice, ast.Slice) else item(of, key, spot)


def _sliced(of: Value, part: ast.Slice, spot: Spot) -> Value:
    """A stretch of a list; with ends that are no plain numbers, some of it."""
    if not isinstance(of, ListValue):
        return Made(spot, "item", "[]", of, [Unknown(spot, "slice")])
    try:
        ends = [None if end is None else ast.literal_eval(end) for end in (part.lower, part.upper, part.step)]
        sliced = of.items[slice(*ends)] if all(end is None or isinstance(end, int) for end in ends) else None
    except (ValueError, TypeError, SyntaxError, RecursionError):
        sliced = None
    if sliced is None or of.open:
        return ListValue(spot, list(of.items), of.kind, open=True)
    return ListValue(spot, sliced, of.kind)


def _call(machine: Machine, scope: Scope, node: ast.Call) -> Value:
    spot = Spot(scope.source, node)
    if isinstance(node.func, ast.Name) and node.func.id == "super" and scope.find("super") is None:
        this, home = _enclosing_method(scope)
        return Super(spot, this, home) if this is not None and home is not None else Unknown(spot, "super")
    arguments = _arguments(machine, scope, node)
    if isinstance(node.func, ast.Attribute):
        receiver = evaluate(machine, scope, node.func.value)
        target = attribute(machine, receiver, node.func.attr, Spot(scope.source, node.func))
    else:
        target = evaluate(machine, scope, node.func)
    return call(machine, target, arguments, spot)


def _enclosing_method(scope: Scope) -> tuple[Value | None, Class | None]:
    """The object and class of the enclosing method."""
    at: Scope | None = scope
    while at is not None:
        if at.home is not None:
            return at.this, at.home
        at = at.outer
    return None, None


def _arguments(machine: Machine, scope: Scope, node: ast.Call) -> Arguments:
    args: list[Value] = []
    keywords: dict[str, Value] = {}
    open_ended = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            unpacked = evaluate(machine, scope, argument.value)
            is_list = isinstance(unpacked, ListValue)
            args += unpacked.items if isinstance(unpacked, ListValue) else []
            open_ended |= not is_list or unpacked.open if isinstance(unpacked, ListValue) else True
        else:
            args.append(evaluate(machine, scope, argument))
    for keyword in node.keywords:
        value = evaluate(machine, scope, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, DictValue):
            keywords |= {str(key): argument for key, argument in value.items.items()}
            open_ended |= value.open
        else:
            open_ended = True
    return Arguments(args, keywords, open_ended)


def _binary(machine: Machine, scope: Scope, node: ast.BinOp) -> Value:
    left, right = evaluate(machine, scope, node.left), evaluate(machine, scope, node.right)
    spot = Spot(scope.source, node)
    folded = _folded(left, node.op, right)
    if folded is not None:
        return Const(
            spot, folded, soft=any(isinstance(operand, Const) and operand.soft for operand in (left, right))
        )
    if isinstance(left, ListValue) and isinstance(right, ListValue) and isinstance(node.op, ast.Add):
        return ListValue(spot, [*left.items, *right.items], left.kind, left.open or right.open)
    if isinstance(left, ListValue) and isinstance(node.op, ast.Mult):
        return ListValue(spot, list(left.items), left.kind, open=True)
    return Made(spot, "operator", type(node.op).__name__, args=[left, right])


def _folded(left: Value, op: ast.operator, right: Value) -> float | None:
    """Arithmetic of two plain numbers."""
    if not (isinstance(left, Const) and isinstance(right, Const)):
        return None
    a, b = left.value, right.value
    if isinstance(a, bool | str | bytes | complex) or isinstance(b, bool | str | bytes | complex):
        return None
    if a is None or b is None:
        return None
    try:
        if isinstance(op, ast.Pow):
            small = abs(a) <= 1e6 and abs(b) <= 32
            result = a**b if small else None
        else:
            result = _FOLDED[type(op)](a, b) if type(op) in _FOLDED else None
    except (ArithmeticError, ValueError):
        return None
    return result if isinstance(result, int | float) and abs(result) < _LARGEST else None


def _unary(machine: Machine, scope: Scope, node: ast.UnaryOp) -> Value:
    value, spot = evaluate(machine, scope, node.operand), Spot(scope.source, node)
    if isinstance(value, Const) and isinstance(value.value, int | float) and isinstance(node.op, ast.USub):
        return Const(spot, -value.value)
    if isinstance(value, Const) and isinstance(value.value, bool) and isinstance(node.op, ast.Not):
        return Const(spot, not value.value)
    return Made(spot, "operator", type(node.op).__name__, args=[value])


def _compare(machine: Machine, scope: Scope, node: ast.Compare) -> Value:
    args = [evaluate(machine, scope, operand) for operand in (node.left, *node.comparators)]
    sure = compared(args[0], node.ops[0], args[1], Spot(scope.source, node)) if len(args) == 2 else None
    if sure is not None:
        return sure
    return Made(Spot(scope.source, node), "operator", type(node.ops[0]).__name__, args=args)


def _choice(machine: Machine, scope: Scope, node: ast.BoolOp | ast.IfExp) -> Value:
    spot = Spot(scope.source, node)
    if isinstance(node, ast.BoolOp):
        values = [evaluate(machine, scope, option) for option in node.values]
        truths = [truth(value) for value in values]
        if all(isinstance(v, Const) and isinstance(v.value, bool) for v in values) and None not in truths:
            return Const(spot, all(truths) if isinstance(node.op, ast.And) else any(truths))
        if isinstance(node.op, ast.And) and any(option is False for option in truths):
            return values[truths.index(False)]
        if any(isinstance(v, Made) and v.kind == "operator" for v in values):
            return Made(spot, "operator", type(node.op).__name__, args=values)
        return either(spot, values)
    sure = truth(evaluate(machine, scope, node.test))
    if sure is not None:
        return evaluate(machine, scope, node.body if sure else node.orelse)
    ways = []
    for way, option in enumerate((node.body, node.orelse)):
        with machine.on_arm(node, way):
            ways.append(evaluate(machine, scope, option))
    return either(spot, ways)


def _items(machine: Machine, scope: Scope, node: ast.List | ast.Tuple | ast.Set) -> Value:
    result = ListValue(Spot(scope.source, node), [], type(node).__name__.lower())
    for child in node.elts:
        if isinstance(child, ast.Starred):
            unpacked = evaluate(machine, scope, child.value)
            result.items += unpacked.items if isinstance(unpacked, ListValue) else [unpacked]
            result.open |= not isinstance(unpacked, ListValue) or unpacked.open
        else:
            result.items.append(evaluate(machine, scope, child))
    return result


def _table(machine: Machine, scope: Scope, node: ast.Dict) -> Value:
    result = DictValue(Spot(scope.source, node), {})
    for key, value in zip(node.keys, node.values, strict=True):
        entry = evaluate(machine, scope, value)
        name = evaluate(machine, scope, key) if key is not None else None
        if isinstance(name, Const):
            result.items[name.value] = entry
        elif key is None and isinstance(entry, DictValue):
            result.items |= entry.items
            result.open |= entry.open
        else:
            result.open = True
    return result


def _lambda(_machine: Machine, scope: Scope, node: ast.Lambda) -> Value:
    return Function(Spot(scope.source, node), node, scope)


def _walrus(machine: Machine, scope: Scope, node: ast.NamedExpr) -> Value:
    value = evaluate(machine, scope, node.value)
    scope.bind(node.target.id, value)
    machine.binding(node.target.id, value, Spot(scope.source, node))
    return value


def _comprehension(
    machine: Machine, scope: Scope, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
) -> Value:
    inner = Scope(scope.source, scope, this=scope.this, home=scope.home)
    spot = Spot(scope.source, node)
    entered = 0
    try:
        for generator in node.generators:
            over = evaluate(machine, inner, generator.iter)
            bind_target(machine, inner, generator.target, element(over, Spot(scope.source, generator.iter)))
            machine.loops.append(Loop(spot, over, machine.clock()))
            entered += 1
            for test in generator.ifs:
                evaluate(machine, inner, test)
        if isinstance(node, ast.DictComp):
            evaluate(machine, inner, node.key)
            return DictValue(spot, {...: evaluate(machine, inner, node.value)}, open=True)
        return ListValue(spot, [evaluate(machine, inner, node.elt)], "comprehension", open=True)
    finally:
        del machine.loops[len(machine.loops) - entered :]


def bind_target(machine: Machine, scope: Scope, target: ast.expr, value: Value) -> None:
    """Assign to a name, an attribute, an item, or several of them."""
    from traindx.source.assigning import assign

    assign(machine, scope, target, value)


def _passed(machine: Machine, scope: Scope, node: ast.Await | ast.Starred) -> Value:
    return evaluate(machine, scope, node.value)


def _yield(machine: Machine, scope: Scope, node: ast.Yield | ast.YieldFrom) -> Value:
    value = evaluate(machine, scope, node.value) if node.value is not None else Unknown(None)
    if machine.yields:
        yielded = element(value, Spot(scope.source, node)) if isinstance(node, ast.YieldFrom) else value
        machine.yields[-1].append(yielded)
    return Unknown(Spot(scope.source, node))


_HANDLERS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _choice,
    ast.IfExp: _choice,
    ast.List: _items,
    ast.Tuple: _items,
    ast.Set: _items,
    ast.Dict: _table,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Await: _passed,
    ast.Starred: _passed,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}
