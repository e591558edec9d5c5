"""A GradScaler where autocast computes in float16 without one."""

from __future__ import annotations

import ast

from traindx.experiment.edit.changes.precision import HALF, autocasts
from traindx.experiment.edit.job import Job, at, call_of, function_of, receiver, statement_of
from traindx.experiment.edit.names import fresh, spelled
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.scopes import bound_name, own_statement, stepped
from traindx.source.execution import CallEvent
from traindx.source.roles import is_scaler
from traindx.source.training import Iteration
from traindx.source.values import Named

_WORDS = (
    "Scale the loss of float16 by a GradScaler: scaler.scale(loss).backward(), scaler.step(optimizer), "
    "scaler.update()."
)


def scale_loss(job: Job) -> str:
    """The loss scaled for backward, gradients unscaled before clipping, steps taken by the scaler."""
    casts = [event for event in autocasts(job) if _to_half(event)]
    if not casts:
        raise Uncertain("The script has no autocast to float16: nothing has to be scaled.")
    existing = job.calls(is_scaler)
    if existing:
        raise Uncertain(
            "The script has a GradScaler already: check the order of its calls.", at(existing[0].spot)
        )
    iterations, optimizers = job.iterations(), job.torch_optimizers()
    if len(optimizers) != 1 or not iterations:
        raise Uncertain(_WORDS, at(casts[0].spot))
    source, call = call_of(optimizers[0])
    here = function_of(source, call)
    if any(
        function_of(one.step.event.spot.source, one.step.event.spot.node) is not here for one in iterations
    ):
        raise Uncertain(_WORDS, at(iterations[0].step.event.spot))
    if not isinstance(bound_name(source, call), ast.Name):
        raise Uncertain(_WORDS, at(optimizers[0].spot))
    scaler = fresh(job.draft, source, "scaler")
    assert optimizers[0].spot is not None
    job.draft.after(source, statement_of(optimizers[0].spot), f"{scaler} = {_scaler(job, casts[0])}")
    for iteration in iterations:
        _use(job, iteration, scaler)
    lines = ", ".join(str(one.step.event.spot.line) for one in iterations)
    return f"A GradScaler after line {call.lineno}, used for the backward pass and the step of line {lines}."


def _to_half(event: CallEvent) -> bool:
    """Whether an autocast is to float16: by its type, or by default on a GPU."""
    dtype = event.value.argument(-1, "dtype", "fast_dtype") or event.value.argument(1, "dtype")
    if isinstance(dtype, Named):
        return dtype.name in HALF
    device = getattr(event.value.argument(0, "device_type"), "value", None)
    return dtype is None and (device == "cuda" or "cuda" in event.value.name)


def _scaler(job: Job, cast: CallEvent) -> str:
    """The call that makes the scaler, for the device that autocast names."""
    source, call = call_of(cast.value)
    if "cuda" in cast.value.name:
        return f"{spelled(job.draft, source, 'torch.cuda.amp.GradScaler')}()"
    device = next((k.value for k in call.keywords if k.arg == "device_type"), None) or next(
        iter(call.args), None
    )
    known = isinstance(device, ast.Constant)
    text = job.draft.text(source, device) if known and device is not None else '"cuda"'
    return f"{spelled(job.draft, source, 'torch.amp.GradScaler')}({text})"


def _use(job: Job, iteration: Iteration, scaler: str) -> None:
    step = iteration.step.event.spot
    optimizer = job.draft.text(step.source, stepped(iteration))
    if getattr(step.node, "args", None) or getattr(step.node, "keywords", None):
        raise Uncertain(_WORDS, at(step))
    for backward in {id(one.spot.node): one for one in iteration.backwards}.values():
        loss = receiver(backward.spot.node)
        if loss is None or getattr(backward.spot.node, "args", None):
            raise Uncertain(_WORDS, at(backward.spot))
        text = job.draft.text(backward.spot.source, loss)
        job.draft.replace(backward.spot.source, loss, f"{scaler}.scale({text})")
    clips = [e for e in job.training.trace.events if e.value.short.startswith("clip_grad")]
    clips = [e for e in clips if iteration.loop in e.loops]
    if clips:
        job.draft.before(clips[0].spot.source, statement_of(clips[0].spot), f"{scaler}.unscale_({optimizer})")
    statement = own_statement(step)
    job.draft.replace(step.source, step.node, f"{scaler}.step({optimizer})")
    job.draft.after(step.source, statement, f"{scaler}.update()")


EDITS = (scale_loss,)
