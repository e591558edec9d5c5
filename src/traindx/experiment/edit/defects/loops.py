"""The training loop: what is divided, and how often the scheduler steps."""

from __future__ import annotations

import ast

from traindx.experiment.edit.changes.gradients import divide_loss
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.keras import batch_size_text, fits, uses_keras
from traindx.experiment.edit.lint_edits import findings
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.value_sources import behind
from traindx.source.training import Iteration
from traindx.source.values import Made, options, parents


def accumulation(job: Job) -> str:
    """The loss divided by the number of batches; gradients cleared with the step, not with the batch."""
    mistakes = findings(job, "script_accumulation_wrong")
    cleared = [finding for finding in mistakes if "clears the gradients at every batch" in finding.text]
    if not cleared:
        if not mistakes and not _undivided(job):
            raise Uncertain(
                "The loss seems to be divided already: check the count.",
                job.iteration().step.event.spot,
            )
        return divide_loss(job)
    loop = job.iteration()
    zeros = [z.event.spot for z in loop.zeros if z.event.spot.line == cleared[0].places[0].line]
    if not zeros or zeros[0].source is not loop.step.event.spot.source:
        raise Uncertain("Clear the gradients after the step only.", cleared[0].places[0])
    clearing, step = job.own_statement(zeros[0].node), job.own_statement(loop.step.event.spot.node)
    job.draft.after(step, job.draft.text(clearing))
    job.draft.remove(clearing)
    return f"The gradients are cleared after the step of line {step.lineno}, not at every batch."


def _undivided(job: Job) -> bool:
    """Whether nothing in the loop divides what is backpropagated."""
    loss = options(job.iteration().backwards[0].value.receiver)
    values = behind(
        loss, lambda value: parents(value) if isinstance(value, Made) and value.kind == "method" else []
    )
    return not any(isinstance(v, Made) and v.kind == "operator" and v.name in ("Div", "Mult") for v in values)


def pace(job: Job) -> str:
    """A schedule counted in epochs is stepped once per epoch, one counted in batches with every batch."""
    mistakes = findings(job, "script_scheduler_pace")
    if mistakes and uses_keras(job):
        return _batches_of_all_epochs(job)
    if not mistakes:
        raise Uncertain("The schedule seems to be stepped as often as it counts.")
    finding, place = mistakes[0], mistakes[0].places[0]
    source = job.source_at(place)
    steps = [e for e in job.training.scheduler_steps if e.spot.line == place.line and e.spot.source is source]
    if not steps or steps[0].value.args or steps[0].value.keywords:
        raise Uncertain(finding.text, place)
    statement = job.own_statement(steps[0].spot.node)
    loop = job.iteration()
    text = job.draft.text(statement)
    per_epoch = "after every batch" in finding.text
    target = _after_batches(job, statement, loop) if per_epoch else _after_step(job, statement, loop)
    if target is None:
        raise Uncertain(finding.text, place)
    job.draft.remove(statement)
    job.draft.after(target, text)
    if per_epoch:
        return f"{text} once per epoch, after the loop of line {target.lineno}."
    return f"{text} after every step of the optimizer, in line {target.lineno}."


def _batches_of_all_epochs(job: Job) -> str:
    """A schedule of Keras lasts for the batches of all epochs, not for as many as there are epochs."""
    fit = fits(job)[0].value
    schedule = next(e.value for e in job.training.trace.calls if "optimizers.schedules." in e.value.name)
    call = call_of(schedule)
    length, inputs = argument_node(call, "decay_steps", 1), argument_node(call_of(fit), "x", 0)
    if length is None or not isinstance(inputs, ast.Name) or job.file(inputs) is not job.file(call):
        raise Uncertain("Multiply decay_steps by the number of batches of an epoch.", schedule.spot)
    new = f"{job.draft.text(length)} * (len({inputs.id}) // {batch_size_text(job, call_of(fit))})"
    job.draft.replace(length, new)
    return f"decay_steps={new} in line {call.lineno}."


def _after_batches(job: Job, statement: ast.stmt, loop: Iteration) -> ast.stmt | None:
    """The loop over batches around a statement, if it is itself inside another loop."""
    node = loop.loop.spot.node
    if not isinstance(node, ast.For | ast.While) or node not in job.ancestors(statement):
        return None
    return (
        node if any(isinstance(ancestor, ast.For | ast.While) for ancestor in job.ancestors(node)) else None
    )


def _after_step(job: Job, statement: ast.stmt, loop: Iteration) -> ast.stmt | None:
    """The optimizer's step in the same function as a statement."""
    step = job.own_statement(loop.step.event.spot.node)
    same_file = job.file(step) is job.file(statement)
    return step if same_file and job.function_of(step) is job.function_of(statement) else None


EDITS = {"fix_accumulation": (accumulation,), "fix_schedule_pace": (pace,)}
