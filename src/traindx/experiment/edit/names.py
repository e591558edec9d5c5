"""How a file of the script spells the names of libraries."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.source.script import Source


def spelled_as(imports: Mapping[str, str], name: str) -> str | None:
    """A name by the longest part of it that is imported; None where none is."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        local = imports.get(".".join(parts[:length]))
        if local is not None:
            return ".".join([local, *parts[length:]])
    return None


def imported(source: Source) -> dict[str, str]:
    """Names of libraries -> the names they go by in a file: only what is imported for the whole file."""
    local_names: dict[str, str] = {}
    shadowed = assigned(source.tree)
    for node in _top(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    local_names.setdefault(alias.name, alias.asname)
                else:
                    root = alias.name.split(".")[0]
                    local_names.setdefault(root, root)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if alias.name != "*":
                    local_names.setdefault(f"{node.module}.{alias.name}", alias.asname or alias.name)
    return {name: local for name, local in local_names.items() if local not in shadowed}


def _top(tree: ast.Module) -> list[ast.stmt]:
    statements: list[ast.stmt] = []
    for node in tree.body:
        statements += node.body if isinstance(node, ast.Try) else [node]
    return statements


def assigned(tree: ast.AST) -> set[str]:
    """Names that a file or a function binds in some other way than by an import."""
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    return bound | {
        n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
    }
