"""How a file of the script spells a name of a library, and the import that is missing for it."""

from __future__ import annotations

import ast

from traindx.experiment.edit.draft import Draft
from traindx.source.script import Source


def spelled(draft: Draft, source: Source, name: str) -> str:
    """`torch.nn.utils.clip_grad_norm_` as this file would write it; `import torch` is added where needed."""
    known = imported(source)
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        front = ".".join(parts[:length])
        local = known.get(front)
        if local is not None:
            return ".".join([local, *parts[length:]])
    add_import(draft, source, f"import {parts[0]}")
    return name


def imported(source: Source) -> dict[str, str]:
    """Names of libraries -> the names they go by in a file: only what is imported for the whole file."""
    found: dict[str, str] = {}
    shadowed = _assigned(source.tree)
    for node in _top(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    found.setdefault(alias.name, alias.asname)
                else:
                    root = alias.name.split(".")[0]
                    found.setdefault(root, root)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if alias.name != "*":
                    found.setdefault(f"{node.module}.{alias.name}", alias.asname or alias.name)
    return {name: local for name, local in found.items() if local not in shadowed}


def _top(tree: ast.Module) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for node in tree.body:
        found += node.body if isinstance(node, ast.Try) else [node]
    return found


def _assigned(tree: ast.Module) -> set[str]:
    """Names that the file binds in some other way than by an import."""
    found = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    found |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    return found | {
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
    taken = (
        draft.names
        | {n.id for n in ast.walk(source.tree) if isinstance(n, ast.Name)}
        | _assigned(source.tree)
    )
    name, count = wanted, 2
    while name in taken:
        name, count = f"{wanted}_{count}", count + 1
    draft.names.add(name)
    return name
