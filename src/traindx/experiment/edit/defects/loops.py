"""The training loop: what is divided, what is stepped how often."""

from __future__ import annotations

import ast

from traindx.core.nouns import Place
from traindx.experiment.edit.changes.gradients import divide_loss
from traindx.experiment.edit.defects import Mender
from traindx.experiment.edit.job import Job, ancestors, at
from traindx.experiment.edit.lint_edits import findings
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.scopes import own_statement
from traindx.source.script import Source
from traindx.source.values import Made, options, parents


def accumulation(job: Job, place: Place | None) -> str:
    """The loss divided by the number of batches; gradients cleared with the step, not with the batch."""
    del place
    seen = findings(job, "script_accumulation_wrong")
    cleared = [one for one in seen if "clears the gradients at every batch" in one.text]
    if not cleared:
        if not seen and not _undivided(job):
            raise Uncertain(
                "The loss seems to be divided already: look at the count.",
                at(job.iteration().step.event.spot),
            )
        return divide_loss(job)
    loop = job.iteration()
    zero = next((z for z in loop.zeros if z.event.spot.line == cleared[0].places[0].line), None)
    if zero is None:
        raise Uncertain("Clear the gradients after the step only.", cleared[0].places[0])
    clearing, step = own_statement(zero.event.spot), own_statement(loop.step.event.spot)
    source = loop.step.event.spot.source
    if zero.event.spot.source is not source:
        raise Uncertain("Clear the gradients after the step only.", cleared[0].places[0])
    job.draft.after(source, step, job.draft.text(source, clearing))
    job.draft.remove(source, clearing)
    return f"The gradients are cleared after the step of line {step.lineno}, not at every batch."


def _undivided(job: Job) -> bool:
    """Whether nothing in the loop divides what is backpropagated."""
    backward = job.iteration().backwards[0]
    given = backward.value.receiver
    waiting = options(given)
    for _ in range(200):
        if not waiting:
            return True
        one = waiting.pop()
        if isinstance(one, Made) and one.kind == "operator" and one.name in ("Div", "Mult"):
            return False
        if isinstance(one, Made) and one.kind == "method":
            waiting += parents(one)
    return False


def pace(job: Job, place: Place | None) -> str:
    """A schedule counted in epochs is stepped once per epoch, one counted in batches with every batch."""
    del place
    seen = findings(job, "script_scheduler_pace")
    if not seen:
        raise Uncertain(
            "The script does not show that the schedule is stepped at another pace than it counts."
        )
    line, source = seen[0].places[0].line, _source(job, seen[0].places[0].file)
    event = next(
        (e for e in job.training.scheduler_steps if e.spot.line == line and e.spot.source is source), None
    )
    if event is None:
        raise Uncertain(seen[0].text, seen[0].places[0])
    statement = own_statement(event.spot)
    if event.value.args or event.value.keywords:
        raise Uncertain(seen[0].text, seen[0].places[0])
    loop = job.iteration()
    inner = loop.loop.spot
    text = job.draft.text(source, statement)
    if "after every batch" in seen[0].text:
        if inner.source is not source or not isinstance(inner.node, ast.For | ast.While):
            raise Uncertain(seen[0].text, seen[0].places[0])
        if inner.node not in ancestors(source, statement) or not _in_loop(source, inner.node):
            raise Uncertain(seen[0].text, seen[0].places[0])
        job.draft.remove(source, statement)
        job.draft.after(source, inner.node, text)
        return f"{text} once per epoch, after the loop of line {inner.node.lineno}."
    step = own_statement(loop.step.event.spot)
    if loop.step.event.spot.source is not source or _scopes(source, step) != _scopes(source, statement):
        raise Uncertain(seen[0].text, seen[0].places[0])
    job.draft.remove(source, statement)
    job.draft.after(source, step, text)
    return f"{text} after every step of the optimizer, in line {step.lineno}."


def _source(job: Job, path: str) -> Source:
    return next(one for one in job.script.sources if one.path == path)


def _in_loop(source: Source, node: ast.AST) -> bool:
    return any(isinstance(one, ast.For | ast.While) for one in ancestors(source, node))


def _scopes(source: Source, node: ast.AST) -> ast.AST | None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return next((one for one in ancestors(source, node) if isinstance(one, kinds)), None)


MENDERS: dict[str, tuple[Mender, ...]] = {"fix_accumulation": (accumulation,), "fix_schedule_pace": (pace,)}
