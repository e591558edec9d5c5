"""What is logged: sums that begin anew with each epoch; work beside the training that is done less often."""

from __future__ import annotations

import ast

from traindx.core.nouns import Place
from traindx.experiment.edit.defects import Mender
from traindx.experiment.edit.job import Job, ancestors
from traindx.experiment.edit.result import Uncertain
from traindx.source.script import Source

_EVERY = 50


def reset(job: Job, place: Place | None) -> str:
    """A sum that is told once per epoch is set to zero when the epoch begins."""
    loop = job.iteration().loop.spot
    source, inner = loop.source, loop.node
    epoch = next((one for one in ancestors(source, inner) if isinstance(one, ast.For | ast.While)), None)
    if epoch is None:
        raise Uncertain("Begin every sum anew with each epoch.", place)
    assert isinstance(epoch, ast.For | ast.While)
    for name in _sums(inner):
        if _set_in(epoch, name) or not _told(epoch, inner, name):
            continue
        start = _start(source, epoch, name)
        if start is not None:
            job.draft.before(source, epoch.body[0], f"{name} = {job.draft.text(source, start)}")
            return f"{name} begins anew with each epoch, in line {epoch.body[0].lineno}."
    raise Uncertain("Compute by hand what is logged here, and compare.", place)


def _sums(loop: ast.AST) -> list[str]:
    found = [
        n.target.id
        for n in ast.walk(loop)
        if isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Add) and isinstance(n.target, ast.Name)
    ]
    return list(dict.fromkeys(found))


def _set_in(epoch: ast.AST, name: str) -> bool:
    return any(
        isinstance(n, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == name for t in ast.walk(n))
        and any(
            isinstance(m, ast.Name) and m.id == name and isinstance(m.ctx, ast.Store)
            for t in n.targets
            for m in ast.walk(t)
        )
        for n in ast.walk(epoch)
    )


def _told(epoch: ast.For | ast.While, inner: ast.AST, name: str) -> bool:
    """Whether the sum is divided by a fixed number after the loop over batches."""
    sums = set(_sums(inner))
    inside = {id(n) for n in ast.walk(inner)}
    for node in ast.walk(epoch):
        if id(node) in inside or not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
            continue
        left = isinstance(node.left, ast.Name) and node.left.id == name
        counted = {n.id for n in ast.walk(node.right) if isinstance(n, ast.Name)} & sums
        if left and not counted:
            return True
    return False


def _start(source: Source, epoch: ast.AST, name: str) -> ast.expr | None:
    """The zero that the sum is given before the epochs begin."""
    around = source.parents.get(epoch)
    block = getattr(around, "body", [])
    for node in block:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(target, ast.Name) and target.id == name and isinstance(node.value, ast.Constant):
            return node.value if node.value.value == 0 else None
    return None


def less_often(job: Job, place: Place | None) -> str:
    """Work beside the training that a count lets through at every step is done every 50th time."""
    source = next((s for s in job.script.sources if place is not None and s.path == place.file), None)
    loop = job.iteration().loop.spot
    if source is None or loop.source is not source:
        raise Uncertain("Do this work less often than at every step.", place)
    for node in ast.walk(loop.node):
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
            continue
        left = node.test.left
        if not (
            isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod) and isinstance(left.right, ast.Name)
        ):
            continue
        born = _constant(source, left.right.id)
        if born is not None and isinstance(born.value, int) and born.value < 10 and not _steps(node):
            job.draft.replace(source, born, str(_EVERY))
            return f"{left.right.id} {born.value} -> {_EVERY} in line {born.lineno}."
    raise Uncertain("Do this work less often than at every step.", place)


def _steps(node: ast.AST) -> bool:
    """Whether a block holds a step of the training itself."""
    calls = (n.func for n in ast.walk(node) if isinstance(n, ast.Call))
    return any(
        isinstance(one, ast.Attribute) and one.attr in ("step", "backward", "zero_grad") for one in calls
    )


def _constant(source: Source, name: str) -> ast.Constant | None:
    found = [
        n.value
        for n in source.tree.body
        if isinstance(n, ast.Assign)
        and len(n.targets) == 1
        and isinstance(n.targets[0], ast.Name)
        and n.targets[0].id == name
    ]
    used = [n for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == name]
    return found[0] if len(found) == 1 and isinstance(found[0], ast.Constant) and len(used) == 2 else None


MENDERS: dict[str, tuple[Mender, ...]] = {"fix_logging": (reset,), "move_sync_out": (less_often,)}
