"""Gradients cleared in every step; batches whose gradients are added up."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import value_of
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.keras import set_option, uses_keras
from traindx.experiment.edit.lint_edits import take_edits
from traindx.experiment.edit.new_number import NewNumber
from traindx.experiment.edit.nodes import receiver
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.scopes import stepped
from traindx.experiment.edit.trainers import set_in_trainer
from traindx.source.execution import CallEvent
from traindx.source.trainer_settings import trainer_setting
from traindx.source.values import Made


def zero_gradients(job: Job) -> str:
    """Clear the gradients once per step, before the backward pass."""
    texts = take_edits(job, "script_zero_grad_missing", "script_step_without_gradient")
    if texts:
        return "The gradients are cleared in every step: " + texts[0]
    missing = [loop for loop in job.iterations() if not loop.zeros]
    if not missing:
        raise Uncertain("The script clears the gradients already; check that it does so at every step.")
    for loop in missing:
        spot = loop.step.event.spot
        if loop.step.event.handed or len(loop.backwards) != 1:
            raise Uncertain("Clear the gradients before the backward pass of this step.", spot)
        name = job.draft.text(stepped(loop))
        job.draft.after(job.statement_of(spot.node), f"{name}.zero_grad()")
    return f"zero_grad() after the step in line {missing[0].step.event.spot.line}."


def accumulate(job: Job, values: Mapping[str, Scalar]) -> str:
    """An option of Keras' optimizers; else an instruction: it needs a count that the script does not have."""
    if uses_keras(job):
        batches = NewNumber(value=int(value_of(values, "batches", 2)))
        return set_option(job, "gradient_accumulation_steps", batches, r"accumulation_steps$")
    count = int(value_of(values, "batches"))
    setting = trainer_setting(job.training.trace, "accumulation")
    counted = setting is not None and (
        setting.framework != "accelerate" or job.training.trace.methods("accumulate")
    )
    if counted:
        return set_in_trainer(job, "accumulation", NewNumber(value=count), r"accumul")
    loop = job.iteration()
    backward = loop.backwards[0].spot
    text = (
        f"Divide the loss by {count} before line {backward.line}, and take line {loop.step.event.spot.line} "
        f"(and zero_grad) only after every {count}th batch."
    )
    raise Uncertain(text, backward)


def skip_nonfinite(job: Job) -> str:
    """A batch whose loss is NaN or infinite is skipped before it reaches the weights."""
    loop = job.iteration()
    backward = loop.backwards[0].spot
    name = _loss(loop.backwards[0])
    statement = job.own_statement(backward.node)
    around = next((a for a in job.ancestors(statement) if isinstance(a, ast.For | ast.While)), None)
    same = job.function_of(statement) is job.function_of(loop.loop.spot.node)
    inside = around is loop.loop.spot.node and same and len(loop.backwards) == 1
    if not inside or not isinstance(name, ast.Name):
        raise Uncertain("Skip a batch whose loss is not finite before this line.", backward)
    if any(word in job.file(statement).text for word in ("isfinite", "isnan")):
        raise Uncertain("The script checks for values that are not finite already.", backward)
    check = job.spelled(statement, "torch.isfinite")
    job.draft.before(statement, f"if not {check}({name.id}): continue")
    return f"A batch whose {name.id} is not finite is skipped before line {backward.line}."


def _loss(backward: CallEvent) -> ast.expr | None:
    """The loss of a backward pass: what the call is made on, or what an accelerator is given."""
    node, of = backward.spot.node, backward.value.receiver
    if isinstance(of, Made) and of.name.startswith("accelerate.") and isinstance(node, ast.Call):
        return node.args[0] if node.args else None
    return receiver(node)


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
    loss = receiver(node)
    one_loop = len(counts) == 1 and len(loop.backwards) == 1 and step.spot.source is backward.spot.source
    if not one_loop or loss is None or getattr(node, "args", None):
        raise Uncertain(
            "Divide the loss by the number of accumulated batches before this backward pass.",
            backward.spot,
        )
    count = job.draft.text(counts[0])
    if not isinstance(counts[0], ast.Name | ast.Attribute | ast.Constant | ast.Subscript):
        count = f"({count})"
    scaled = isinstance(loss, ast.Call) and ast.unparse(loss.func).endswith(".scale") and len(loss.args) == 1
    if scaled and isinstance(loss, ast.Call):
        loss = loss.args[0]
    text = job.draft.text(loss)
    if not isinstance(loss, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        if not scaled:
            raise Uncertain(f"Divide the loss by {count} before this backward pass.", backward.spot)
        text = f"({text})"
    job.draft.replace(loss, f"{text} / {count}" if scaled else f"({text} / {count})")
    return f"The loss is divided by {count} before the backward pass in line {backward.spot.line}."
