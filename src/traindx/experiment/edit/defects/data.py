"""The data: labels in the order of their inputs, validation kept apart and treated alike."""

from __future__ import annotations

import ast
import re

from traindx.core.nouns import Place
from traindx.experiment.edit.calls import without
from traindx.experiment.edit.defects import Mender
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.lint_edits import findings
from traindx.experiment.edit.names import fresh
from traindx.experiment.edit.result import Uncertain
from traindx.source.anchors_of_data import iterated
from traindx.source.script import Source
from traindx.source.values import Items, Value, options

_LOADERS = ("DataLoader", "StatefulDataLoader")
_RANDOM = re.compile(r"rand|jitter|flip|crop|noise|augment", re.IGNORECASE)


def align(job: Job, place: Place | None) -> str:
    """Inputs and labels take one order: the index of the inputs is used for the labels, too."""
    seen = findings(job, "script_shuffled_apart")
    place = seen[0].places[0] if seen else place
    source, statement = _statement(job, place)
    if statement is None or source is None:
        raise Uncertain("Shuffle inputs and labels by one order.", place)
    mine = _reordered(statement)
    block = _block(source, statement)
    others = [(s, r) for s in block if s is not statement and (r := _reordered(s)) is not None]
    if mine is None or len(others) != 1:
        raise Uncertain("Shuffle inputs and labels by one order.", place)
    other, theirs = others[0]
    if ast.dump(mine) == ast.dump(theirs) and isinstance(mine, ast.Name):
        raise Uncertain("Inputs and labels take one order here already.", place)
    if (
        isinstance(theirs, ast.Name)
        and other.lineno < statement.lineno
        and _stays(block, theirs.id, other, statement)
    ):
        job.draft.replace(source, mine, theirs.id)
        return f"{theirs.id} orders the labels in line {statement.lineno}, as it does the inputs."
    first = min(other, statement, key=lambda one: one.lineno)
    index = _reordered(first)
    assert index is not None
    name = fresh(job.draft, source, "order")
    if isinstance(index, ast.Name):
        raise Uncertain("Shuffle inputs and labels by one order.", place)
    job.draft.before(source, first, f"{name} = {job.draft.text(source, index)}")
    job.draft.replace(source, mine, name)
    job.draft.replace(source, theirs, name)
    return f"One order for inputs and labels, drawn before line {first.lineno}."


def _stays(block: list[ast.stmt], name: str, first: ast.stmt, last: ast.stmt) -> bool:
    """Whether a name keeps its value between two statements."""
    between = [one for one in block if first.lineno < one.lineno < last.lineno]
    return not any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        for one in between
        for n in ast.walk(one)
    )


def _reordered(node: ast.stmt) -> ast.expr | None:
    """The index of `x = x[index]`."""
    if (
        not isinstance(node, ast.Assign)
        or len(node.targets) != 1
        or not isinstance(node.value, ast.Subscript)
    ):
        return None
    same = ast.unparse(node.targets[0]) == ast.unparse(node.value.value)
    drawn = isinstance(node.value.slice, ast.Name | ast.Call)
    return node.value.slice if same and drawn else None


def _statement(job: Job, place: Place | None) -> tuple[Source | None, ast.stmt | None]:
    source = next((s for s in job.script.sources if place is not None and s.path == place.file), None)
    if source is None or place is None:
        return None, None
    nodes = [n for n in ast.walk(source.tree) if isinstance(n, ast.stmt) and n.lineno == place.line]
    return source, nodes[0] if nodes else None


def _block(source: Source, node: ast.stmt) -> list[ast.stmt]:
    around = source.parents.get(node)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(around, name, None)
        if isinstance(block, list) and node in block:
            return block
    return [node]


def keep_apart(job: Job, place: Place | None) -> str:
    """The validation data taken out of what the training data were put together from."""
    first = iterated(job.training)
    others = [
        one
        for e in job.training.trace.events
        if e.value.kind == "call" and e.value.short in _LOADERS and e.value is not first
        for one in options(e.value.argument(0, "dataset"))
    ]
    for event in job.training.trace.events:
        made = event.value
        given = made.args[0] if made.short == "ConcatDataset" and made.args else None
        inside = (
            [i for i, one in enumerate(given.items) if _among(one, others)]
            if isinstance(given, Items)
            else []
        )
        if inside and given is not None and given.spot is not None and isinstance(given.spot.node, ast.List):
            new = without(job.draft.text(given.spot.source, given.spot.node), inside)
            if new is not None and len(given.spot.node.elts) > len(inside):
                job.draft.rewrite(given.spot.source, given.spot.node, new)
                return f"The validation data are taken out of the training data in line {given.spot.line}."
    raise Uncertain("Keep what is validated out of the training data.", place)


def _among(value: Value, others: list[Value]) -> bool:
    return any(one is other for one in options(value) for other in others)


def same_transform(job: Job, place: Place | None) -> str:
    """Validation inputs go through what training inputs go through."""
    for source in job.script.sources:
        bound = {
            node.targets[0].id: node
            for node in source.tree.body
            if isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
        }
        for name, node in bound.items():
            other = _partner(name, bound)
            if (
                other is None
                or not isinstance(node.value, ast.Lambda)
                or not isinstance(other.value, ast.Lambda)
            ):
                continue
            text, theirs = job.draft.text(source, node.value), job.draft.text(source, other.value)
            if _RANDOM.search(theirs) or text == theirs:
                continue
            job.draft.replace(source, node.value, theirs)
            return f"{name} does in line {node.lineno} what line {other.lineno} does for training."
    raise Uncertain("Give validation inputs the same scaling as training inputs.", place)


def _partner(name: str, bound: dict[str, ast.Assign]) -> ast.Assign | None:
    for word in ("validation", "valid", "val", "test", "eval"):
        if re.search(rf"(^|_){word}(_|$)", name):
            return bound.get(re.sub(rf"(^|_){word}(_|$)", r"\1train\2", name))
    return None


def true_division(job: Job, place: Place | None) -> str:
    """Integer division that leaves nothing of the inputs becomes a division."""
    source, statement = _statement(job, place)
    if source is None or statement is None or job.cause != "constant_inputs":
        raise Uncertain("Look at the inputs as they reach the model.", place)
    whole = [
        n
        for n in ast.walk(statement)
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv) and isinstance(n.right, ast.Constant)
    ]
    if len(whole) != 1 or isinstance(statement, ast.For | ast.While):
        raise Uncertain("Look at the inputs as they leave this line.", place)
    left, right = job.draft.span(source, whole[0].left)[1], job.draft.span(source, whole[0].right)[0]
    between = source.text[left:right]
    job.draft.splice(source, (left, right), between.replace("//", "/"))
    return f"/ instead of // in line {statement.lineno}: the inputs keep what stands behind the point."


MENDERS: dict[str, tuple[Mender, ...]] = {
    "align_labels": (align,),
    "split_anew": (keep_apart,),
    "match_validation": (same_transform,),
    "fix_pipeline": (true_division,),
}
