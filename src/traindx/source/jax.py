"""Calls of JAX in a script, by their full names: what is compiled is read as it is written, not followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import TypeGuard

from traindx.source.script import Script, Source
from traindx.source.values import Spot

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
_GRADIENTS = ("grad", "value_and_grad", "filter_grad", "filter_value_and_grad")
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def jax_sources(script: Script) -> list[Source]:
    """The files that import JAX."""
    return [
        source
        for source in script.sources
        if any(name.startswith("jax") for name in _aliases(source).values())
    ]


def differentiates(script: Script) -> bool:
    """Whether JAX takes gradients in it, by itself, Flax or Equinox."""
    names = (full_name(source, node) for source in jax_sources(script) for node in ast.walk(source.tree))
    return any(name.rpartition(".")[2] in _GRADIENTS for name in names)


@cache
def _aliases(source: Source) -> dict[str, str]:
    """The names of a file that stand for modules or functions, by what they are."""
    names: dict[str, str] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def full_name(source: Source, node: ast.AST) -> str:
    """`jax.random.normal` for `random.normal` after `from jax import random`; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in _aliases(source):
        return ""
    return ".".join([_aliases(source)[node.id], *reversed(parts)]).replace("jax.numpy", "jnp")


def scopes(source: Source) -> Iterator[Scope]:
    """The file itself and every function in it."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def own_nodes(scope: Scope) -> Iterator[ast.AST]:
    """The nodes of a scope in the order of the source, without those of the functions inside of it."""
    waiting: list[ast.AST] = list(reversed(scope.body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _NESTED):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def calls(source: Source, scope: Scope) -> Iterator[tuple[ast.Call, str]]:
    """The calls of a scope with the full names of what they call."""
    for node in own_nodes(scope):
        if isinstance(node, ast.Call):
            yield node, full_name(source, node.func)


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """What a call gives a parameter; None where it is not written."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if position < len(call.args) else None


def whole(node: ast.expr | None) -> int | None:
    """A whole number as it is written."""
    try:
        value = ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError):
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def written_rates(script: Script) -> Iterator[tuple[Source, ast.Constant]]:
    """The numbers that are the learning rate of steps written by hand: of a name, a parameter, in a call."""
    for source in jax_sources(script):
        functions = [node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef)]
        places = {
            function.name: at
            for function in functions
            for at, arg in enumerate(function.args.args)
            if _is_rate(arg.arg)
        }
        rates: list[ast.expr | None] = []
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef):
                late = node.args.args[len(node.args.args) - len(node.args.defaults) :]
                pairs = zip(late, node.args.defaults, strict=False)
                rates += [default for arg, default in pairs if _is_rate(arg.arg)]
            elif isinstance(node, ast.Assign):
                rate_names = [
                    target for target in targets(node) if isinstance(target, ast.Name) and _is_rate(target.id)
                ]
                rates += [node.value] if rate_names else []
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in places:
                rates.append(argument(node, places[node.func.id], "lr"))
        yield from ((source, rate) for rate in rates if rate is not None and _is_number(rate))


def _is_rate(name: str) -> bool:
    return name.lower() in ("lr", "learning_rate", "step_size")


def _is_number(node: ast.expr) -> TypeGuard[ast.Constant]:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def targets(statement: ast.AST) -> list[ast.expr]:
    """What an assignment binds, the items of tuples apart."""
    bound = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For):
        bound = [statement.target]
    return [
        item
        for target in bound
        for item in (target.elts if isinstance(target, ast.Tuple | ast.List) else [target])
    ]


def spot(source: Source, node: ast.AST) -> Spot:
    return Spot(source, node)
