"""Gradients cleared in every step; batches whose gradients are added up."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import Maker, value_of
from traindx.experiment.edit.job import Job, ancestors, at, function_of, statement_of
from traindx.experiment.edit.lint_edits import findings, take
from traindx.experiment.edit.names import spelled
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.scopes import own_statement, stepped


def zero_gradients(job: Job, values: Mapping[str, Scalar]) -> str:
    """Clear the gradients once per step, before the backward pass."""
    del values
    seen = findings(job, "script_zero_grad_missing", "script_step_without_gradient")
    mendable = [one for one in seen if one.edits]
    if mendable:
        for one in mendable:
            take(job.draft, one.edits)
        return "The gradients are cleared in every step: " + mendable[0].text
    missing = [loop for loop in job.iterations() if not loop.zeros]
    if not missing:
        raise Uncertain("The script clears the gradients already; look whether it does so at every step.")
    for loop in missing:
        spot = loop.step.event.spot
        if loop.step.event.handed or len(loop.backwards) != 1:
            raise Uncertain("Clear the gradients before the backward pass of this step.", at(spot))
        name = job.draft.text(spot.source, stepped(loop))
        job.draft.after(spot.source, statement_of(spot), f"{name}.zero_grad()")
    return f"zero_grad() after the step in line {missing[0].step.event.spot.line}."


def accumulate(job: Job, values: Mapping[str, Scalar]) -> str:
    """Only words: it needs a count that the script does not have."""
    count = int(value_of(values, "batches"))
    loop = job.iteration()
    backward = loop.backwards[0].spot
    text = (
        f"Divide the loss by {count} before line {backward.line}, and take line {loop.step.event.spot.line} "
        f"(and zero_grad) only after every {count}th batch."
    )
    raise Uncertain(text, at(backward))


def skip_nonfinite(job: Job, values: Mapping[str, Scalar]) -> str:
    """A batch whose loss is NaN or infinite is passed over before it reaches the weights."""
    del values
    loop = job.iteration()
    backward = loop.backwards[0].spot
    words = "Pass over a batch whose loss is not finite, before this line."
    node, source = backward.node, backward.source
    statement = own_statement(backward)
    around = next((a for a in ancestors(source, statement) if isinstance(a, ast.For | ast.While)), None)
    name = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if around is not loop.loop.spot.node or not isinstance(name, ast.Name) or len(loop.backwards) != 1:
        raise Uncertain(words, at(backward))
    if function_of(source, statement) is not function_of(source, loop.loop.spot.node):
        raise Uncertain(words, at(backward))
    if "isfinite" in source.text or "isnan" in source.text:
        raise Uncertain("The script looks for values that are not finite already.", at(backward))
    check = spelled(job.draft, source, "torch.isfinite")
    job.draft.before(source, statement, f"if not {check}({name.id}): continue")
    return f"A batch whose {name.id} is not finite is passed over before line {backward.line}."


def divide_loss(job: Job) -> str:
    """The loss divided by the number of batches whose gradients are added up."""
    loop = job.iteration()
    backward, step = loop.backwards[0], loop.step.event
    tests = [arm.node.test for arm in step.arms if arm not in backward.arms and isinstance(arm.node, ast.If)]
    counts = [
        inner.right
        for test in tests
        for inner in ast.walk(test)
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mod)
    ]
    node = backward.spot.node
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args
    if (
        len(counts) != 1
        or len(loop.backwards) != 1
        or step.spot.source is not backward.spot.source
        or not plain
    ):
        raise Uncertain(
            "Divide the loss by the number of accumulated batches before this backward pass.",
            at(backward.spot),
        )
    count = job.draft.text(step.spot.source, counts[0])
    if not isinstance(counts[0], ast.Name | ast.Attribute | ast.Constant | ast.Subscript):
        count = f"({count})"
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    inner = node.func.value
    scaled = (
        isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Attribute)
        and inner.func.attr == "scale"
        and len(inner.args) == 1
    )
    target = inner.args[0] if scaled and isinstance(inner, ast.Call) else inner
    text = job.draft.text(backward.spot.source, target)
    simple = isinstance(target, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    divided = f"{text} / {count}" if simple else f"({text}) / {count}"
    if not isinstance(target, ast.Name | ast.Attribute | ast.Call | ast.Subscript) and not scaled:
        raise Uncertain(f"Divide the loss by {count} before this backward pass.", at(backward.spot))
    job.draft.replace(backward.spot.source, target, divided if scaled else f"({divided})")
    return f"The loss is divided by {count} before the backward pass in line {backward.spot.line}."


MAKERS: dict[str, Maker] = {
    "zero_gradients": zero_gradients,
    "accumulate": accumulate,
    "skip_nonfinite": skip_nonfinite,
}
