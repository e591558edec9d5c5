"""The script trains under fp16 autocast and has no GradScaler.

Seen when the forward pass of a training loop runs under `torch.autocast("cuda")` or
`torch.cuda.amp.autocast()`, whose default is fp16, or under any autocast with `dtype=torch.float16`, and
nothing in the script scales the loss: gradients below about 6e-8 become zero.

Low where the recorded loss came down all the same. Silent with bfloat16, with autocast that is switched off
or not known for sure, and where a framework or a scaler of another library may scale the loss.
Known mistake: a loss that is multiplied by hand by a factor of any other name than a scale.
"""

import re

from traindx.evidence.detectors._script import (
    CallEvent,
    Detector,
    Finding,
    Iterations,
    Places,
    Scripts,
    Skipped,
    Training,
    code,
    place,
    script,
    where,
)
from traindx.evidence.detectors._script_words import speaks_of
from traindx.source.roles import is_scaler
from traindx.source.values import Const, Named

DETECTOR = Detector(title="float16 without a GradScaler", family="scaler_missing", harms="progress")
_AUTOCAST = ("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
_ON_CUDA = ("torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")
_SCALES = re.compile(r"grad_?scaler|(?:loss|grad)_?scal|^scaler?$|accelerat|deepspeed|fabric|apex")


def detect(training: Training, iterations: Iterations) -> Places:
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
                findings.setdefault(id(backward.spot.node), _finding(event, backward))
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


def _finding(autocast: CallEvent, backward: CallEvent) -> Finding:
    text = (
        f"{where(backward.spot)}: {code(backward.spot)} computes gradients in float16 "
        f"({code(autocast.spot)}, line {autocast.spot.line}) and no GradScaler scales the loss: small ones "
        "become 0. scaler.scale(loss).backward(), scaler.step(optimizer) and scaler.update() belong here."
    )
    return Finding(text, "silent_defect", "medium", places=(place(backward.spot), place(autocast.spot)))


_BODY = (
    "optimizer.zero_grad()\nwith {}:\n    loss = criterion(model(x), y)\nloss.backward()\noptimizer.step()"
)
_SCALED = (
    "optimizer.zero_grad()\nwith torch.autocast('cuda'):\n    loss = criterion(model(x), y)\n"
    "scaler.scale(loss).backward()\nscaler.step(optimizer)\nscaler.update()"
)


def fires() -> Scripts:
    yield script(body=_BODY.format("torch.autocast('cuda')"))
    yield script(body=_BODY.format("torch.autocast(device_type='cuda', dtype=torch.float16)"))
    yield script(body=_BODY.format("torch.cuda.amp.autocast()"))


def silent() -> Scripts:
    yield script(body=_BODY.format("torch.autocast('cuda', dtype=torch.bfloat16)"))
    yield script(body=_BODY.format("torch.autocast('cpu')"))
    yield script(body=_BODY.format("torch.autocast(device)"))
    yield script(body=_BODY.format("torch.autocast('cuda', enabled=False)"))
    yield script(body=_BODY.format("torch.cuda.amp.autocast(False)"))
    yield script(after="scaler = torch.amp.GradScaler()", body=_SCALED)
    yield script()
