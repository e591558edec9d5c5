"""Autocast computes in float16 and nothing scales the loss.

Seen when a training loop runs under autocast to float16 (by its type, or by default on a GPU), its backward
pass starts from the plain loss, and the script makes no `GradScaler`: gradients below about 6e-8 become 0.

Silent with bfloat16, which has the range of float32, where autocast is switched off or may be, with a scaler
of any kind, and where a framework runs the loop. Known mistake: a loss that is multiplied by hand.
"""

from traindx.evidence.detectors._script import (
    Detector,
    Finding,
    Iterations,
    Places,
    Scripts,
    Skipped,
    Training,
    script,
)
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.values import Const, Named

DETECTOR = Detector(title="float16 without a GradScaler", family="script_scaler")
_HALF = ("torch.float16", "torch.half")


def detect(training: Training, iterations: Iterations) -> Places:
    casts = [event for event in training.trace.calls if _to_half(event)]
    if not casts:
        return Skipped()
    scales = any("scaler" in event.value.name.lower() for event in training.trace.events)
    if scales or training.managed or training.trace.methods("scale", "scale_loss"):
        return []
    found: dict[int, Finding] = {}
    for one in iterations:
        inside = [event for event in casts if one.loop in event.loops]
        backward = one.backwards[0].spot
        if inside and not one.step.event.handed:
            text = (
                f"{where(backward)}: {code(backward)} computes gradients in float16 "
                f"({code(inside[0].spot)}, line {inside[0].spot.line}) and no GradScaler scales the loss: "
                "small ones become 0. scaler.scale(loss).backward(), scaler.step(optimizer) and "
                "scaler.update() belong here."
            )
            places = (place(backward), place(inside[0].spot))
            found.setdefault(id(backward.node), Finding(text, "silent_defect", "medium", places=places))
    return [*found.values()]


def _to_half(event: CallEvent) -> bool:
    """Whether a call is surely autocast to float16."""
    call = event.value
    if call.short != "autocast" or call.open:
        return False
    enabled = call.keywords.get("enabled")
    if enabled is not None and not (isinstance(enabled, Const) and enabled.value is True):
        return False
    dtype = call.keywords.get("dtype") or call.argument(1, "dtype")
    if dtype is not None:
        return isinstance(dtype, Named) and dtype.name in _HALF
    device = call.argument(0, "device_type")
    return "cuda" in call.name or (isinstance(device, Const) and device.value == "cuda")


def _body(cast: str, backward: str = "loss.backward()\noptimizer.step()") -> str:
    return f"optimizer.zero_grad()\nwith {cast}:\n    loss = criterion(model(x), y)\n{backward}"


def fires() -> Scripts:
    yield script(body=_body('torch.autocast("cuda", dtype=torch.float16)'))
    yield script(body=_body('torch.autocast(device_type="cuda")'))
    yield script(body=_body("torch.cuda.amp.autocast()"))


def silent() -> Scripts:
    yield script(body=_body('torch.autocast("cuda", dtype=torch.bfloat16)'))
    yield script(body=_body('torch.autocast("cpu")'))
    yield script(body=_body('torch.autocast("cuda", enabled=False)'))
    yield script(
        after="scaler = torch.amp.GradScaler()",
        body=_body(
            'torch.autocast("cuda", dtype=torch.float16)',
            "scaler.scale(loss).backward()\nscaler.step(optimizer)\nscaler.update()",
        ),
    )
    yield script()
