"""How a file of the script spells a name of a library, and the import that is missing for it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.experiment.edit.draft import Draft
from traindx.source.script import Source


def spelled(draft: Draft, source: Source, name: str) -> str:
    """`torch.nn.utils.clip_grad_norm_` as this file would write it; `import torch` is added where needed."""
    text = spelled_as(imported(source), name)
    if text is not None:
        return text
    add_import(draft, source, f"import {name.partition('.')[0]}")
    return name


def spelled_as(known: Mapping[str, str], name: str) -> str | None:
    """A name by the longest part of it that is imported; None where none is."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        local = known.get(".".join(parts[:length]))
        if local is not None:
            return ".".join([local, *parts[length:]])
    return None


def imported(source: Source) -> dict[str, str]:
    """Names of libraries -> the names they go by in a file: only what is imported for the whole file."""
    local_names: dict[str, str] = {}
    shadowed = _assigned(source.tree)
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


def _assigned(tree: ast.Module) -> set[str]:
    """Names that the file binds in some other way than by an import."""
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    return bound | {
        n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
    }


def add_import(draft: Draft, source: Source, line: str) -> None:
    """An import after those at the top of a file."""
    body = source.tree.body
    last = None
    for at, node in enumerate(body):
        docstring = at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or docstring:
            last = node
            continue
        break
    if last is not None:
        draft.after(source, last, line)
    elif body:
        draft.before(source, body[0], line)


def fresh(draft: Draft, source: Source, wanted: str) -> str:
    """A name that neither the file nor the draft uses yet."""
    used = (
        draft.names
        | {n.id for n in ast.walk(source.tree) if isinstance(n, ast.Name)}
        | _assigned(source.tree)
    )
    name, count = wanted, 2
    while name in used:
        name, count = f"{wanted}_{count}", count + 1
    draft.names.add(name)
    return name
