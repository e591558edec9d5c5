"""Lines of a training in several processes: what differs between them, what one of them does in addition."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.source.anchors_of_loop import first
from traindx.source.anchors_of_model import model
from traindx.source.execution import Loop
from traindx.source.script import Source
from traindx.source.training import Training
from traindx.source.values import Spot

_RANK = re.compile(r"^(global_|local_|node_|my_|get_)*rank$", re.I)
_WRAPPERS = ("DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP")
_REDUCES = ("all_reduce", "all_reduce_coalesced", "all_gather", "reduce_scatter")
_REPORTS = re.compile(
    r"print|log|save|tqdm|bar|wandb|writer|write|barrier|destroy|mkdir|download|report|info|set_description|makedirs"
)


def unsynced(training: Training) -> Spot | None:
    """What lets processes drift apart: the wrapper passed by, a start of its own, no wrapper at all."""
    main = training.script.main
    wrapped = [
        assignment for assignment in _assigned(main.tree) if _callee_name(assignment.value) in _WRAPPERS
    ]
    for assignment in wrapped:
        passed = _passed_by(training, assignment)
        if passed is not None:
            return passed
    for node in ast.walk(main.tree):
        if isinstance(node, ast.Attribute) and node.attr == "no_sync":
            return Spot(main, node)
    reduced = [e for e in training.trace.events if e.value.short in _REDUCES]
    if reduced and not wrapped:
        return _own_seed(main) or reduced[0].spot
    return None if wrapped else model(training)


def wrapper(training: Training) -> Spot | None:
    """Where the model is made one of several replicas."""
    return first(e for e in training.trace.calls if e.value.short in _WRAPPERS)


def _assigned(tree: ast.AST) -> list[ast.Assign]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]


def _callee_name(node: ast.AST | None) -> str:
    """The last part of the name of what a call calls."""
    inner = node.func if isinstance(node, ast.Call) else None
    return inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""


def _passed_by(training: Training, wrapping: ast.Assign) -> Spot | None:
    """The call in the training loop of the model inside a wrapper."""
    iteration = training.main
    if iteration is None:
        return None
    wrapped = wrapping.value.args[0] if isinstance(wrapping.value, ast.Call) and wrapping.value.args else None
    wrapper = ast.dump(wrapping.targets[0]).replace("Store()", "Load()")
    inner = "" if wrapped is None or isinstance(wrapped, ast.Call) else ast.dump(wrapped)
    for node in _trained(training, iteration.loop):
        if not isinstance(node, ast.Call) or _grad_off(iteration.loop.spot.source, node):
            continue
        at = node.func
        unwrapped = isinstance(at, ast.Attribute) and at.attr == "module" and ast.dump(at.value) == wrapper
        if unwrapped or (inner != wrapper and ast.dump(at) == inner):
            return Spot(iteration.loop.spot.source, node)
    return None


def _trained(training: Training, loop: Loop) -> Iterator[ast.AST]:
    """The syntax of a loop and of the functions it calls."""
    yield from ast.walk(loop.spot.node)
    functions = dict.fromkeys(f for e in training.trace.events if loop in e.loops for f in e.functions)
    for function in functions:
        inner = list(ast.walk(function))
        if loop.spot.node not in inner:
            yield from inner


def _grad_off(source: Source, node: ast.AST) -> bool:
    at: ast.AST | None = node
    while at is not None:
        if isinstance(at, ast.With) and any(
            word in ast.unparse(item.context_expr)
            for item in at.items
            for word in ("no_grad", "inference_mode")
        ):
            return True
        at = source.parents.get(at)
    return False


def _own_seed(source: Source) -> Spot | None:
    """A seed that differs between processes, and so do the first weights."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and _callee_name(node) in (
            "manual_seed",
            "manual_seed_all",
            "seed_everything",
        ):
            plain = not (isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call))
            if plain and any(_mentions_rank(argument) for argument in node.args):
                return Spot(source, node)
    return None


def _mentions_rank(node: ast.AST) -> bool:
    names = (
        inner.id if isinstance(inner, ast.Name) else getattr(inner, "attr", "") for inner in ast.walk(node)
    )
    return any(_RANK.match(name) for name in names)


def by_rank(training: Training) -> Spot | None:
    """What depends on the process, other than who reports."""
    source = training.script.main
    for find in (_sleeps, _chosen, _branches):
        node = next(find(source), None)
        if node is not None:
            return Spot(source, node)
    return None


def _sleeps(source: Source) -> Iterator[ast.AST]:
    """A wait under a test of the rank, or as long as the rank says."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and _callee_name(node) == "sleep":
            at: ast.AST | None = node
            while at is not None and not isinstance(at, ast.FunctionDef):
                if isinstance(at, ast.If) and _mentions_rank(at.test):
                    yield at
                at = source.parents.get(at)
            if any(_mentions_rank(argument) for argument in node.args):
                yield node


def _chosen(source: Source) -> Iterator[ast.AST]:
    """A value chosen by the rank."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.IfExp) and _mentions_rank(node.test):
            yield node
        if isinstance(node, ast.Subscript) and _reads_item(node) and _mentions_rank(node.slice):
            yield node


def _reads_item(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice)


def _branches(source: Source) -> Iterator[ast.AST]:
    """A branch on the rank that does more than report."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.If) and _mentions_rank(node.test) and not all(map(_reports, node.body)):
            yield node


def _reports(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return | ast.Pass) or bool(_REPORTS.search(ast.unparse(node)[:400]))
