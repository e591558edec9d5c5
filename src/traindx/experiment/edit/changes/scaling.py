"""A GradScaler where autocast computes in float16 without one."""

from __future__ import annotations

import ast

from traindx.experiment.edit.changes.precision import HALF, autocasts
from traindx.experiment.edit.job import Job, call_of, once
from traindx.experiment.edit.nodes import argument_node, receiver
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.scopes import stepped
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
            "The script has a GradScaler already: check the order of its calls.", existing[0].spot
        )
    iterations, optimizers = job.iterations(), job.torch_optimizers()
    if len(optimizers) != 1 or not iterations:
        raise Uncertain(_WORDS, casts[0].spot)
    call = call_of(optimizers[0])
    function = job.function_of(call)
    if any(job.function_of(iteration.step.event.spot.node) is not function for iteration in iterations):
        raise Uncertain(_WORDS, iterations[0].step.event.spot)
    if not isinstance(job.bound_name(call), ast.Name):
        raise Uncertain(_WORDS, optimizers[0].spot)
    scaler = job.fresh(call, "scaler")
    job.draft.after(job.statement_of(call), f"{scaler} = {_scaler(job, casts[0])}")
    for iteration in iterations:
        _use(job, iteration, scaler)
    lines = ", ".join(str(iteration.step.event.spot.line) for iteration in iterations)
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
    call = call_of(cast.value)
    if "cuda" in cast.value.name:
        return f"{job.spelled(call, 'torch.cuda.amp.GradScaler')}()"
    device = argument_node(call, "device_type", 0)
    text = job.draft.text(device) if isinstance(device, ast.Constant) else '"cuda"'
    return f"{job.spelled(call, 'torch.amp.GradScaler')}({text})"


def _use(job: Job, iteration: Iteration, scaler: str) -> None:
    step = iteration.step.event.spot
    optimizer = job.draft.text(stepped(iteration))
    if getattr(step.node, "args", None) or getattr(step.node, "keywords", None):
        raise Uncertain(_WORDS, step)
    for backward in once(iteration.backwards):
        loss = receiver(backward.spot.node)
        if loss is None or getattr(backward.spot.node, "args", None):
            raise Uncertain(_WORDS, backward.spot)
        text = job.draft.text(loss)
        job.draft.replace(loss, f"{scaler}.scale({text})")
    clips = [e for e in job.training.trace.events if e.value.short.startswith("clip_grad")]
    clips = [e for e in clips if iteration.loop in e.loops]
    if clips:
        job.draft.before(job.statement_of(clips[0].spot.node), f"{scaler}.unscale_({optimizer})")
    statement = job.own_statement(step.node)
    job.draft.replace(step.node, f"{scaler}.step({optimizer})")
    job.draft.after(statement, f"{scaler}.update()")
