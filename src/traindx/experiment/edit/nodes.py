"""Nodes of a script's syntax trees: the file each is of, and what is around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.experiment.edit.result import Uncertain
from traindx.source.script import Script, Source

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Nodes:
    """What a node is part of; a node belongs to one file of the script."""

    script: Script

    def file(self, node: ast.AST) -> Source:
        """The file that a node is of."""
        return self.script.source_of(node)

    def parent(self, node: ast.AST | None) -> ast.AST | None:
        """The node directly around a node; None at the top of its file."""
        return self.file(node).parents.get(node) if node is not None else None

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from inside out."""
        return ancestors(self.file(node), node)

    def function_of(self, node: ast.AST) -> ast.AST | None:
        """The function around a node; None at the top of the file."""
        return next((ancestor for ancestor in self.ancestors(node) if isinstance(ancestor, _FUNCTIONS)), None)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The statement around a piece; raises Uncertain when there is none."""
        for ancestor in (node, *self.ancestors(node)):
            if isinstance(ancestor, ast.stmt):
                return ancestor
        raise Uncertain("This is not part of a statement: change it by hand.", node)

    def own_statement(self, call: ast.AST) -> ast.stmt:
        """The statement that a call is, by itself; raises Uncertain when it is part of more."""
        around = self.parent(call)
        if isinstance(around, ast.Expr):
            return around
        line = getattr(call, "lineno", 1)
        raise Uncertain(f"Line {line} does more than this call: change it by hand.", call)

    def bound_name(self, node: ast.AST) -> ast.Name | ast.Attribute | None:
        """The name or attribute that a value is given to, when that is all the statement does."""
        around, target = self.parent(node), None
        if isinstance(around, ast.Assign) and len(around.targets) == 1 and around.value is node:
            target = around.targets[0]
        elif isinstance(around, ast.AnnAssign) and around.value is node:
            target = around.target
        return target if isinstance(target, ast.Name | ast.Attribute) else None

    def block(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements that a statement is among."""
        around = self.parent(node)
        blocks = (getattr(around, name, None) for name in ("body", "orelse", "finalbody"))
        return next((block for block in blocks if isinstance(block, list) and node in block), [node])

    def stores(self, name: str, function: ast.AST | None, file: Source) -> list[ast.Name]:
        """Where a name is bound in a function, or at the top of a file."""
        return [
            node
            for node in ast.walk(file.tree)
            if isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Store)
            and self.function_of(node) is function
        ]


def ancestors(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around a node, from inside out."""
    around = source.parents.get(node)
    while around is not None:
        yield around
        around = source.parents.get(around)


def last_name(node: ast.AST | None) -> str:
    """The last name of what a call calls, or of a name or attribute; empty for anything else."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def receiver(node: ast.AST | None) -> ast.expr | None:
    """The expression whose method a call calls; None for other nodes."""
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def argument_node(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """The expression that a call gives for an argument."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    front = call.args[: position + 1]
    plain = position >= 0 and len(front) == position + 1
    return (
        front[position]
        if plain and not any(isinstance(argument, ast.Starred) for argument in front)
        else None
    )
