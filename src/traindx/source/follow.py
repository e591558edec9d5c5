"""Follow a script from its first line, then what nothing in it calls."""

from __future__ import annotations

import ast
from collections import Counter

from traindx.source.attributes import attribute, lookup
from traindx.source.calling import enter, instantiate, unknown_arguments
from traindx.source.execution import Trace
from traindx.source.follow_state import Exhausted, Machine
from traindx.source.importing import module_scope
from traindx.source.scopes import Scope
from traindx.source.script import Script
from traindx.source.statements import run_body
from traindx.source.values import Arguments, Class, Function, Instance, Value

_BUDGET = 120_000


def follow(script: Script, *, budget: int = _BUDGET) -> Trace:
    """The calls that the script would make, in order."""
    machine = Machine(script, run_body, budget)
    try:
        scope = module_scope(machine, script.main)
        _follow_uncalled(machine, scope)
    except (Exhausted, RecursionError):
        machine.trace.complete = False
    return machine.trace


def _follow_uncalled(machine: Machine, scope: Scope) -> None:
    """Functions and methods that nothing calls: a library calls them, or another script does."""
    waiting = _uncalled(machine, scope)
    mentioned = Counter(
        name
        for function in waiting
        for name in _mentions(function.node)
        if name != getattr(function.node, "name", "")
    )
    for function in sorted(waiting, key=lambda function: mentioned[function.name] > 0):
        if function.node in machine.trace.visited:
            continue
        machine.root = function.node
        enter(machine, function, Arguments(unknown_arguments(function)), function.spot)
    machine.root = None


def _uncalled(machine: Machine, scope: Scope) -> list[Function]:
    functions: list[Function] = []
    for value in list(scope.names.values()):
        if isinstance(value, Function) and value.scope.source is scope.source:
            functions.append(value)
        elif isinstance(value, Class) and value.scope.source is scope.source:
            functions += _methods(machine, value)
    return [function for function in functions if function.node not in machine.trace.visited]


def _methods(machine: Machine, cls: Class) -> list[Function]:
    """The methods of a class, bound to an object of it: one the script makes, else one made for this."""
    instance: Value | None = next(
        (candidate for candidate in machine.trace.instances if candidate.cls is cls), None
    )
    if instance is None:
        machine.root = cls.node
        init = lookup(cls, "__init__")
        args: list[Value] = []
        if init is not None and isinstance(init[0], Function):
            args = unknown_arguments(Function(None, init[0].node, init[0].scope, Instance(None, cls)))
        assert cls.spot is not None
        instance = instantiate(machine, cls, Arguments(args), cls.spot)
        machine.root = None
    methods = [(name, value) for name, value in cls.attributes.items() if isinstance(value, Function)]
    bound = []
    for name, value in methods:
        if value.node in machine.trace.visited or value.scope.source is not cls.scope.source:
            continue
        method = attribute(machine, instance, name, value.spot) if value.spot is not None else None
        if isinstance(method, Function):
            bound.append(method)
    return bound


def _mentions(node: ast.AST) -> set[str]:
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return names | {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
