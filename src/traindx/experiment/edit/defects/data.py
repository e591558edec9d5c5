"""The data: labels in the order of their inputs, validation kept apart and transformed alike."""

from __future__ import annotations

import ast
import re

from traindx.core.nouns import Place
from traindx.experiment.edit.calls import without
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.lint_edits import findings
from traindx.experiment.edit.result import Uncertain
from traindx.source.anchors_of_data import iterated
from traindx.source.values import ListValue, Value, options

_RANDOM = re.compile(r"rand|jitter|flip|crop|noise|augment", re.IGNORECASE)


def align(job: Job, place: Place | None) -> str:
    """Inputs and labels take one order: the index of the inputs is used for the labels, too."""
    words = "Shuffle inputs and labels by one order."
    apart = findings(job, "script_shuffled_apart")
    place = apart[0].places[0] if apart else place
    labels = job.statement_at(place)
    index = _reordered(labels) if labels is not None else None
    if labels is None or index is None:
        raise Uncertain(words, place)
    block = job.block(labels)
    candidates = [(s, r) for s in block if s is not labels and (r := _reordered(s)) is not None]
    if len(candidates) != 1:
        raise Uncertain(words, place)
    inputs, order = candidates[0]
    if ast.dump(index) == ast.dump(order) and isinstance(index, ast.Name):
        raise Uncertain("Inputs and labels take one order here already.", place)
    inputs_first = inputs.lineno < labels.lineno
    if isinstance(order, ast.Name) and inputs_first and _stays(block, order.id, inputs, labels):
        job.draft.replace(index, order.id)
        return f"{order.id} orders the labels in line {labels.lineno}, as it does the inputs."
    first, drawn = (inputs, order) if inputs_first else (labels, index)
    if isinstance(drawn, ast.Name):
        raise Uncertain(words, place)
    name = job.fresh(labels, "order")
    job.draft.before(first, f"{name} = {job.draft.text(drawn)}")
    job.draft.replace(index, name)
    job.draft.replace(order, name)
    return f"One order for inputs and labels, drawn before line {first.lineno}."


def _stays(block: list[ast.stmt], name: str, first: ast.stmt, last: ast.stmt) -> bool:
    """Whether a name keeps its value between two statements."""
    between = [statement for statement in block if first.lineno < statement.lineno < last.lineno]
    return not any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        for statement in between
        for n in ast.walk(statement)
    )


def _reordered(node: ast.stmt) -> ast.expr | None:
    """The index of `x = x[index]`."""
    plain = isinstance(node, ast.Assign) and len(node.targets) == 1
    if not plain or not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Subscript):
        return None
    same = ast.unparse(node.targets[0]) == ast.unparse(node.value.value)
    drawn = isinstance(node.value.slice, ast.Name | ast.Call)
    return node.value.slice if same and drawn else None


def keep_apart(job: Job, place: Place | None) -> str:
    """The validation data removed from the parts of the training data."""
    first = iterated(job.training)
    other_data = [
        data
        for loader in job.loaders()
        if loader is not first
        for data in options(loader.argument(0, "dataset"))
    ]
    for event in job.training.trace.events:
        call = event.value
        parts = call.args[0] if call.short == "ConcatDataset" and call.args else None
        items, spot = (parts.items, parts.spot) if isinstance(parts, ListValue) else ([], None)
        shared = [i for i, item in enumerate(items) if _among(item, other_data)]
        node = spot.node if spot is not None else None
        if shared and isinstance(node, ast.List) and len(node.elts) > len(shared):
            job.draft.rewrite(node, without(job.draft.text(node), shared))
            return f"The validation data are removed from the training data in line {node.lineno}."
    raise Uncertain("Remove the validation data from the training data.", place)


def _among(value: Value, other_data: list[Value]) -> bool:
    return any(option is data for option in options(value) for data in other_data)


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
            partner = _partner(name, bound)
            if (
                partner is None
                or not isinstance(node.value, ast.Lambda)
                or not isinstance(partner.value, ast.Lambda)
            ):
                continue
            text, train_text = job.draft.text(node.value), job.draft.text(partner.value)
            if _RANDOM.search(train_text) or text == train_text:
                continue
            job.draft.replace(node.value, train_text)
            return f"{name} does in line {node.lineno} what line {partner.lineno} does for training."
    raise Uncertain("Give validation inputs the same scaling as training inputs.", place)


def _partner(name: str, bound: dict[str, ast.Assign]) -> ast.Assign | None:
    for word in ("validation", "valid", "val", "test", "eval"):
        if re.search(rf"(^|_){word}(_|$)", name):
            return bound.get(re.sub(rf"(^|_){word}(_|$)", r"\1train\2", name))
    return None


def true_division(job: Job, place: Place | None) -> str:
    """Integer division that leaves nothing of the inputs becomes a division."""
    statement = job.statement_at(place)
    if statement is None or job.cause != "constant_inputs":
        raise Uncertain("Check the inputs as they reach the model.", place)
    divisions = [
        n
        for n in ast.walk(statement)
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv) and isinstance(n.right, ast.Constant)
    ]
    if len(divisions) != 1 or isinstance(statement, ast.For | ast.While):
        raise Uncertain("Check the inputs as they leave this line.", place)
    start, end = job.draft.span(divisions[0].left)[1], job.draft.span(divisions[0].right)[0]
    file = job.file(statement)
    job.draft.splice(file, (start, end), file.text[start:end].replace("//", "/"))
    return f"/ instead of // in line {statement.lineno}: the inputs keep their fractions."


EDITS = {
    "align_labels": (align,),
    "split_anew": (keep_apart,),
    "match_validation": (same_transform,),
    "fix_pipeline": (true_division,),
}
