"""Imports: files of the script are followed, anything else is a name of a library."""

from __future__ import annotations

import ast

from traindx.source.attributes import attribute, canonical
from traindx.source.follow_state import Machine
from traindx.source.scopes import Scope, module_of
from traindx.source.script import Source
from traindx.source.values import Module, Named, Spot, Value


def run_import(machine: Machine, scope: Scope, node: ast.Import) -> str:
    for alias in node.names:
        source = module_of(machine.script, scope.source, alias.name, 0)
        spot = Spot(scope.source, node)
        first = alias.name.split(".")[0]
        if source is not None and (alias.asname or "." not in alias.name):
            scope.bind(alias.asname or first, Module(spot, module_scope(machine, source)))
        elif alias.asname:
            scope.bind(alias.asname, Named(spot, canonical(alias.name)))
        else:
            scope.bind(first, Named(spot, first))
    return ""


def run_import_from(machine: Machine, scope: Scope, node: ast.ImportFrom) -> str:
    spot = Spot(scope.source, node)
    base = node.module or ""
    home = module_of(machine.script, scope.source, base, node.level) if base or node.level else None
    for alias in node.names:
        inner = module_of(machine.script, scope.source, f"{base}.{alias.name}".lstrip("."), node.level)
        value: Value
        if home is not None and alias.name == "*":
            scope.names.update(module_scope(machine, home).names)
            continue
        if inner is not None:
            value = Module(spot, module_scope(machine, inner))
        elif home is not None:
            value = attribute(machine, Module(spot, module_scope(machine, home)), alias.name, spot)
        else:
            value = Named(spot, canonical(f"{base}.{alias.name}" if base else alias.name))
        scope.bind(alias.asname or alias.name, value)
    return ""


def module_scope(machine: Machine, source: Source) -> Scope:
    """A file of the script, followed when it is first imported."""
    from traindx.source.statements import run_block

    if source.path not in machine.modules:
        scope = Scope(source)
        machine.modules[source.path] = scope
        saved = (machine.loops, machine.arms, machine.contexts, machine.functions)
        machine.loops, machine.arms, machine.contexts, machine.functions = [], [], [], []
        try:
            run_block(machine, scope, source.tree.body)
        finally:
            machine.loops, machine.arms, machine.contexts, machine.functions = saved
    return machine.modules[source.path]
