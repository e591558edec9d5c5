"""Loss scaling in the script."""

import re

from traindx.evidence.detector import Cases, Detector, Finding, Skipped
from traindx.evidence.detectors._script import (
    CallEvent,
    Edit,
    Iteration,
    Iterations,
    Places,
    Training,
    code,
    place,
    script,
    where,
)
from traindx.evidence.detectors._script.gradients import optimizer_code, scales_loss
from traindx.evidence.detectors._script_words import speaks_of
from traindx.evidence.detectors.gradients.script_backward import CLIPS
from traindx.source.edit_pieces import put_before, segment
from traindx.source.roles import is_scaler
from traindx.source.values import Const, Made, Named, Spot, number

_SCALER = "scaler = torch.amp.GradScaler()"
_CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
_BACK = "optimizer.zero_grad()\nloss = criterion(model(x), y)\nscaler.scale(loss).backward()\n"
_STEP = "scaler.step(optimizer)\nscaler.update()"
_AUTOCAST = ("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
_ON_CUDA = ("torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")
_SCALES = re.compile(r"grad_?scaler|(?:loss|grad)_?scal|^scaler?$|accelerat|deepspeed|fabric|apex")
_BODY = (
    "optimizer.zero_grad()\nwith {}:\n    loss = criterion(model(x), y)\nloss.backward()\noptimizer.step()"
)
_SCALED = (
    "optimizer.zero_grad()\nwith torch.autocast('cuda'):\n    loss = criterion(model(x), y)\n"
    "scaler.scale(loss).backward()\nscaler.step(optimizer)\nscaler.update()"
)


@Detector("clipped before unscaling", family="script_scaler", measured_by="clip_before_unscale")
def script_clip_before_unscale(training: Training, iterations: Iterations) -> Places:
    """Gradients are clipped while the GradScaler's factor is still in them.

    Seen when `clip_grad_norm_` comes between `scaler.scale(loss).backward()` and `scaler.step(optimizer)`
    with no `scaler.unscale_(optimizer)` before it: a limit of 1 then cuts gradients that are tens of
    thousands of times too large, and after the division hardly anything is left of the step.

    Silent when the scaler is switched off or not known for sure. Known mistake: a limit that is multiplied
    by the scale by hand.
    """
    scaled = [iteration for iteration in iterations if _scales(iteration)]
    clips = [e for e in training.trace.named(*CLIPS) if not e.handed]
    if not scaled or not clips:
        return Skipped()
    findings: dict[int, Finding] = {}
    for iteration in scaled:
        for clip in clips:
            if iteration.loop in clip.loops and _still_scaled(training, clip, iteration):
                findings.setdefault(id(clip.spot.node), _finding(clip, iteration))
    return [*findings.values()]


def _scales(iteration: Iteration) -> bool:
    """Whether a scaler that is surely on steps."""
    return scales_loss(iteration.step.scaler) and not iteration.step.event.handed


def _still_scaled(training: Training, clip: CallEvent, iteration: Iteration) -> bool:
    back = [b for b in iteration.backwards if b.at < clip.at]
    if (
        not back
        or clip.at > iteration.step.event.at
        or number(clip.value.argument(1, "max_norm", "clip_value")) is None
    ):
        return False
    by_scaler = isinstance(back[-1].value.receiver, Made) and back[-1].value.receiver.name == "scale"
    undone = training.trace.methods("unscale_", "unscale_gradients")
    return by_scaler and not any(event.at < clip.at and iteration.loop in event.loops for event in undone)


def _finding(clip: CallEvent, iteration: Iteration) -> Finding:
    text = (
        f"{where(clip.spot)}: {code(clip.spot)} cuts gradients that still carry the scaler's factor: "
        "nothing calls unscale_() before it, so the limit leaves almost nothing of the step."
    )
    return Finding(text, "silent_defect", "high", places=(place(clip.spot),), edits=_edit(clip, iteration))


def _edit(clip: CallEvent, iteration: Iteration) -> tuple[Edit, ...]:
    import ast

    step = iteration.step.event
    node, optimizer = step.spot.node, optimizer_code(iteration.step)
    if step.functions != clip.functions or not isinstance(node, ast.Call) or not optimizer:
        return ()
    if not isinstance(node.func, ast.Attribute):
        return ()
    scaler = segment(Spot(step.spot.source, node.func.value))
    return put_before(clip.spot, f"{scaler}.unscale_({optimizer})", "safe" if not clip.arms else "ask")


@Detector(
    "float16 without a GradScaler",
    family="scaler_missing",
    harms="progress",
    measured_by="fp16_without_scaler",
)
def script_scaler_missing(training: Training, iterations: Iterations) -> Places:
    """The script trains under fp16 autocast and has no GradScaler.

    Seen when the forward pass of a training loop runs under `torch.autocast("cuda")` or
    `torch.cuda.amp.autocast()`, whose default is fp16, or under any autocast with `dtype=torch.float16`, and
    nothing in the script scales the loss: gradients below about 6e-8 become zero.

    Low where the recorded loss came down all the same. Silent with bfloat16, with autocast that is switched
    off or not known for sure, and where a framework or a scaler of another library may scale the loss. Known
    mistake: a loss that is multiplied by hand by a factor of any other name than a scale.
    """
    autocasts = training.trace.named(*_AUTOCAST, *_ON_CUDA)
    if not autocasts:
        return Skipped()
    scaled = any(is_scaler(event.value) for event in training.trace.calls)
    if scaled or training.managed or speaks_of(training.script, _SCALES):
        return []
    findings: dict[int, Finding] = {}
    for iteration in iterations:
        backward = iteration.backwards[-1]
        for event in autocasts:
            if iteration.loop in event.loops and event.at < backward.at and _in_fp16(event):
                findings.setdefault(id(backward.spot.node), _scaler_missing_finding(event, backward))
    return [*findings.values()]


def _in_fp16(event: CallEvent) -> bool:
    """Whether an autocast around a pass with gradients surely computes in fp16."""
    call = event.value
    on_cuda = call.name in _ON_CUDA
    enabled = call.argument(0 if on_cuda else 2, "enabled")
    on = enabled is None or (isinstance(enabled, Const) and enabled.value is True)
    if call.open or event.handed or event.grad_off or not on:
        return False
    dtype = call.argument(1, "dtype")
    if dtype is not None:
        return isinstance(dtype, Named) and dtype.name in ("torch.float16", "torch.half")
    device = call.argument(0, "device_type")
    return on_cuda or (isinstance(device, Const) and str(device.value).startswith("cuda"))


def _scaler_missing_finding(autocast: CallEvent, backward: CallEvent) -> Finding:
    text = (
        f"{where(backward.spot)}: {code(backward.spot)} computes gradients in float16 "
        f"({code(autocast.spot)}, line {autocast.spot.line}) and no GradScaler scales the loss: small ones "
        "become 0. scaler.scale(loss).backward(), scaler.step(optimizer) and scaler.update() belong here."
    )
    return Finding(text, "silent_defect", "medium", places=(place(backward.spot), place(autocast.spot)))


def cases() -> Cases:
    yield from script_clip_before_unscale.fires(
        script(after=_SCALER, body=_BACK + _CLIP + _STEP),
        script(after=_SCALER, body=_BACK + _CLIP + "scaler.unscale_(optimizer)\n" + _STEP),
    )
    yield from script_clip_before_unscale.silent(
        script(after=_SCALER, body=_BACK + "scaler.unscale_(optimizer)\n" + _CLIP + _STEP),
        script(after=_SCALER, body=_BACK + _STEP),
        script(after="scaler = torch.amp.GradScaler(enabled=False)", body=_BACK + _CLIP + _STEP),
    )
    yield from script_scaler_missing.fires(
        script(body=_BODY.format("torch.autocast('cuda')")),
        script(body=_BODY.format("torch.autocast(device_type='cuda', dtype=torch.float16)")),
        script(body=_BODY.format("torch.cuda.amp.autocast()")),
    )
    yield from script_scaler_missing.silent(
        script(body=_BODY.format("torch.autocast('cuda', dtype=torch.bfloat16)")),
        script(body=_BODY.format("torch.autocast('cpu')")),
        script(body=_BODY.format("torch.autocast(device)")),
        script(body=_BODY.format("torch.autocast('cuda', enabled=False)")),
        script(body=_BODY.format("torch.cuda.amp.autocast(False)")),
        script(after="scaler = torch.amp.GradScaler()", body=_SCALED),
        script(),
    )
