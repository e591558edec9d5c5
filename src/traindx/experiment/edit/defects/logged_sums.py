"""Logging: sums that start from zero in each epoch; extra work of a step that is done less often."""

from __future__ import annotations

import ast

from traindx.core.nouns import Place
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.nodes import last_name, receiver
from traindx.experiment.edit.result import Uncertain
from traindx.source.script import Source

_EVERY = 50


def reset(job: Job, place: Place | None) -> str:
    """A sum that is logged once per epoch is set to zero when the epoch begins."""
    inner = job.iteration().loop.spot.node
    epoch = next(
        (ancestor for ancestor in job.ancestors(inner) if isinstance(ancestor, ast.For | ast.While)), None
    )
    if epoch is None:
        raise Uncertain("Set every sum to zero at the start of each epoch.", place)
    assert isinstance(epoch, ast.For | ast.While)
    for name in _sums(inner):
        if _set_in(epoch, name) or not _averaged(epoch, inner, name):
            continue
        start = _start(job, epoch, name)
        if start is not None:
            job.draft.before(epoch.body[0], f"{name} = {job.draft.text(start)}")
            return f"{name} starts from zero in each epoch, in line {epoch.body[0].lineno}."
    raise Uncertain("Compute by hand what is logged here, and compare.", place)


def _sums(loop: ast.AST) -> list[str]:
    adds = (n for n in ast.walk(loop) if isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Add))
    return list(dict.fromkeys(n.target.id for n in adds if isinstance(n.target, ast.Name)))


def _set_in(epoch: ast.AST, name: str) -> bool:
    targets = (t for n in ast.walk(epoch) if isinstance(n, ast.Assign) for t in n.targets)
    names = (m for t in targets for m in ast.walk(t) if isinstance(m, ast.Name))
    return any(m.id == name and isinstance(m.ctx, ast.Store) for m in names)


def _averaged(epoch: ast.For | ast.While, inner: ast.AST, name: str) -> bool:
    """Whether the sum is divided by a fixed number after the loop over batches."""
    sums = set(_sums(inner))
    inside = {id(n) for n in ast.walk(inner)}
    for node in ast.walk(epoch):
        if id(node) in inside or not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
            continue
        is_sum = isinstance(node.left, ast.Name) and node.left.id == name
        counted = {n.id for n in ast.walk(node.right) if isinstance(n, ast.Name)} & sums
        if is_sum and not counted:
            return True
    return False


def _start(job: Job, epoch: ast.stmt, name: str) -> ast.expr | None:
    """The zero that the sum is given before the epochs begin."""
    for node in job.block(epoch):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        if [ast.unparse(target) for target in node.targets] == [name]:
            return node.value if node.value.value == 0 else None
    return None


def less_often(job: Job, place: Place | None) -> str:
    """Extra work that a counter allows at every step is done every 50th time."""
    source = job.source_at(place)
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
        every = _constant(source, left.right.id)
        if every is not None and isinstance(every.value, int) and every.value < 10 and not _steps(node):
            job.draft.replace(every, str(_EVERY))
            return f"{left.right.id} {every.value} -> {_EVERY} in line {every.lineno}."
    raise Uncertain("Do this work less often than at every step.", place)


def _steps(node: ast.AST) -> bool:
    """Whether a block holds a step of the training itself."""
    steps = ("step", "backward", "zero_grad")
    return any(receiver(n) is not None and last_name(n) in steps for n in ast.walk(node))


def _constant(source: Source, name: str) -> ast.Constant | None:
    values = [
        n.value
        for n in source.tree.body
        if isinstance(n, ast.Assign)
        and len(n.targets) == 1
        and isinstance(n.targets[0], ast.Name)
        and n.targets[0].id == name
    ]
    uses = [n for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == name]
    return values[0] if len(values) == 1 and isinstance(values[0], ast.Constant) and len(uses) == 2 else None


EDITS = {"fix_logging": (reset,), "move_sync_out": (less_often,)}
