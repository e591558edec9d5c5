"""Statements: what they bind, and whether the block continues after them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from traindx.source.assigning import assign, run_annotated, run_assign, run_augmented
from traindx.source.attributes import element
from traindx.source.certain_tests import truth
from traindx.source.execution import BranchArm, Loop
from traindx.source.expressions import evaluate
from traindx.source.follow_state import Machine
from traindx.source.importing import run_import, run_import_from
from traindx.source.scopes import Scope
from traindx.source.values import Class, Const, Function, ListValue, Made, Named, Spot, Unknown, Value, either

_FEW = 4
End = str  # "" when the block continues, else "return", "continue", "break" or "raise"


def run_block(machine: Machine, scope: Scope, body: Sequence[ast.stmt]) -> End:
    """Follow statements; what follows a conditional `continue` or `return` is on the other arm."""
    length = len(machine.arms)
    try:
        for statement in body:
            end = run_statement(machine, scope, statement)
            if end:
                return end
        return ""
    finally:
        del machine.arms[length:]


def run_body(machine: Machine, scope: Scope, node: ast.AST) -> Value:
    """Follow a function's body and give what it returns."""
    if isinstance(node, ast.Lambda):
        return evaluate(machine, scope, node.body)
    body = getattr(node, "body", [])
    machine.returns.append([])
    machine.yields.append([])
    try:
        end = run_block(machine, scope, body)
    finally:
        returned, yielded = machine.returns.pop(), machine.yields.pop()
    spot = Spot(scope.source, node)
    if yielded:
        return ListValue(spot, yielded, "comprehension", open=True)
    if not returned:
        return Const(spot, None)
    return either(spot, returned if end else [v for v in returned if not _is_none(v)] or returned)


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def run_statement(machine: Machine, scope: Scope, node: ast.stmt) -> End:
    machine.spend()
    handler = _HANDLERS.get(type(node))
    return handler(machine, scope, node) if handler is not None else ""


def _expression(machine: Machine, scope: Scope, node: ast.Expr) -> End:
    evaluate(machine, scope, node.value)
    return ""


def _return(machine: Machine, scope: Scope, node: ast.Return) -> End:
    spot = Spot(scope.source, node)
    value = evaluate(machine, scope, node.value) if node.value is not None else Const(spot, None)
    if machine.returns:
        machine.returns[-1].append(value)
    return "return"


def _branch(machine: Machine, scope: Scope, node: ast.If) -> End:
    if _is_main_guard(node.test):
        return run_block(machine, scope, node.body)
    sure = truth(evaluate(machine, scope, node.test))
    if sure is not None:
        return run_block(machine, scope, node.body if sure else node.orelse)
    return _ways(machine, scope, node, [node.body, node.orelse])


def _ways(machine: Machine, scope: Scope, node: ast.stmt, bodies: Sequence[Sequence[ast.stmt]]) -> End:
    """Follow each way from the same start; afterwards a name has the values of the ways that continue."""
    start_names = dict(scope.names)
    results: list[tuple[End, dict[str, Value]]] = []
    for way, body in enumerate(bodies):
        scope.names.clear()
        scope.names.update(start_names)
        with machine.on_arm(node, way):
            end = run_block(machine, scope, body)
        results.append((end, dict(scope.names)))
    going = [names for end, names in results if not end]
    joined = going or [names for _, names in results]
    scope.names.clear()
    scope.names.update(_joined(joined))
    if not going:
        return results[0][0] if all(end == results[0][0] for end, _ in results) else "return"
    if len(going) == 1 and len(results) == 2:
        leaving = next(way for way, (end, _) in enumerate(results) if end)
        if results[leaving][0] in ("continue", "return"):
            machine.arms.append(BranchArm(node, 1 - leaving))
    return ""


def _joined(ways: Sequence[dict[str, Value]]) -> dict[str, Value]:
    names = dict.fromkeys(name for way in ways for name in way)
    joined = {}
    for name in names:
        values = [way[name] for way in ways if name in way]
        is_same = all(value is values[0] for value in values)
        joined[name] = values[0] if is_same else either(values[0].spot, values)
    return joined


def _is_main_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and any(
        isinstance(inner, ast.Name) and inner.id == "__name__" for inner in ast.walk(test)
    )


def _loop(machine: Machine, scope: Scope, node: ast.For | ast.AsyncFor | ast.While) -> End:
    spot = Spot(scope.source, node)
    over: Value | None = None
    if not isinstance(node, ast.While):
        over = evaluate(machine, scope, node.iter)
    loop, end = Loop(spot, over, machine.clock()), ""
    before = dict(scope.names)
    with machine.inside(loop):
        if isinstance(node, ast.While):
            evaluate(machine, scope, node.test)
            end = run_block(machine, scope, node.body)
        elif over is not None:
            for turn in _turns(over, Spot(scope.source, node.iter)):
                assign(machine, scope, node.target, turn)
                end = run_block(machine, scope, node.body)
                if end in ("break", "return", "raise"):
                    break
    after = {name: _grown(before.get(name), value) for name, value in scope.names.items()}
    unchanged = {name: value for name, value in before.items() if not isinstance(after.get(name), ListValue)}
    scope.names.clear()
    scope.names.update(_joined([unchanged, after]))
    run_block(machine, scope, node.orelse)
    forever = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and not _breaks(node)
    return end if forever and end == "return" else ""


def _grown(before: Value | None, after: Value) -> Value:
    """A list that a loop adds to holds at least what one turn gave it."""
    if isinstance(before, ListValue) and isinstance(after, ListValue) and before is not after:
        return ListValue(after.spot, after.items, after.kind, open=True)
    return after


def _turns(over: Value, spot: Spot) -> list[Value]:
    """The values of the loop's variable: a few words one by one, anything else once."""
    words = isinstance(over, ListValue) and all(isinstance(item, Const) for item in over.items)
    if words and isinstance(over, ListValue) and not over.open and 0 < len(over.items) <= _FEW:
        texts = all(isinstance(item.value, str | bool) for item in over.items if isinstance(item, Const))
        return list(over.items) if texts else [element(over, spot)]
    return [element(over, spot)]


def _breaks(node: ast.While) -> bool:
    return any(isinstance(inner, ast.Break) for inner in ast.walk(node))


def _with(machine: Machine, scope: Scope, node: ast.With | ast.AsyncWith) -> End:
    names = []
    for item in node.items:
        value = evaluate(machine, scope, item.context_expr)
        names.append(_context_name(value))
        if item.optional_vars is not None:
            assign(machine, scope, item.optional_vars, value)
    with machine.under(names):
        return run_block(machine, scope, node.body)


def _context_name(value: Value) -> str:
    if isinstance(value, Made) and value.name.endswith("set_grad_enabled"):
        first = value.argument(0, "mode")
        return f"torch.set_grad_enabled({first.value if isinstance(first, Const) else '?'!s})"
    if isinstance(value, Named | Made):
        return value.name
    return "?"


def _try(machine: Machine, scope: Scope, node: ast.Try) -> End:
    end = run_block(machine, scope, [*node.body, *node.orelse])
    continuing = [dict(scope.names)] if not end else []
    for way, handler in enumerate(node.handlers):
        with machine.on_arm(node, way + 1):
            if handler.name:
                scope.bind(handler.name, Unknown(Spot(scope.source, handler), handler.name))
            handler_end = run_block(machine, scope, handler.body)
        if not handler_end:
            continuing.append(dict(scope.names))
    if continuing:
        scope.names.update(_joined(continuing))
    return run_block(machine, scope, node.finalbody) or ("" if continuing else end)


def _match(machine: Machine, scope: Scope, node: ast.Match) -> End:
    evaluate(machine, scope, node.subject)
    return _ways(machine, scope, node, [*(case.body for case in node.cases), []])


def _function(machine: Machine, scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> End:
    home = scope.home if scope.this is None else None
    function = Function(Spot(scope.source, node), node, _not_class(scope), None, home)
    scope.bind(node.name, function)
    for decorator in node.decorator_list:
        evaluate(machine, scope, decorator)
    return ""


def _not_class(scope: Scope) -> Scope:
    """The block whose names a function sees: those of a class body it does not."""
    at = scope
    while at.home is not None and at.this is None and at.outer is not None:
        at = at.outer
    return at


def _class(machine: Machine, scope: Scope, node: ast.ClassDef) -> End:
    spot = Spot(scope.source, node)
    bases = [evaluate(machine, scope, base) for base in node.bases]
    inner = Scope(scope.source, scope)
    cls = Class(spot, node, inner, bases, inner.names)
    inner.home = cls
    scope.bind(node.name, cls)
    machine.trace.classes.append(cls)
    run_block(machine, inner, node.body)
    return ""


def _outside(_machine: Machine, scope: Scope, node: ast.Global | ast.Nonlocal) -> End:
    scope.outside.update(node.names)
    return ""


def _leave(_machine: Machine, _scope: Scope, node: ast.stmt) -> End:
    return type(node).__name__.lower()


def _raise(machine: Machine, scope: Scope, node: ast.Raise) -> End:
    if node.exc is not None:
        evaluate(machine, scope, node.exc)
    return "raise"


def _assert(machine: Machine, scope: Scope, node: ast.Assert) -> End:
    evaluate(machine, scope, node.test)
    return ""


_HANDLERS: dict[type[ast.stmt], Callable[..., End]] = {
    ast.Expr: _expression,
    ast.Assign: run_assign,
    ast.AnnAssign: run_annotated,
    ast.AugAssign: run_augmented,
    ast.Return: _return,
    ast.If: _branch,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.While: _loop,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: run_import,
    ast.ImportFrom: run_import_from,
    ast.Global: _outside,
    ast.Nonlocal: _outside,
    ast.Continue: _leave,
    ast.Break: _leave,
    ast.Raise: _raise,
    ast.Assert: _assert,
}
