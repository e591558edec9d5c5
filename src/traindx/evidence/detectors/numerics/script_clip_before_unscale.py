"""Gradients are clipped while the GradScaler's factor is still in them.

Seen when `clip_grad_norm_` comes between `scaler.scale(loss).backward()` and `scaler.step(optimizer)`
with no `scaler.unscale_(optimizer)` before it: a limit of 1 then cuts gradients that are tens of
thousands of times too large, and after the division hardly anything is left of the step.

Silent when the scaler is switched off or not known for sure. Known mistake: a limit that is multiplied by
the scale by hand.
"""

from traindx.evidence.detectors._script import (
    Detector,
    Edit,
    Finding,
    Iteration,
    Iterations,
    Places,
    Scripts,
    Skipped,
    Training,
    script,
)
from traindx.evidence.detectors._script.gradients import optimizer_code, scales_loss
from traindx.evidence.detectors._script.words import code, where
from traindx.evidence.detectors.gradients.script_clip_misplaced import CLIPS
from traindx.source.edit_pieces import place, put_before, segment
from traindx.source.execution import CallEvent
from traindx.source.values import Made, Spot, number

DETECTOR = Detector(title="clipped before unscaling", family="script_scaler")


def detect(training: Training, iterations: Iterations) -> Places:
    scaled = [one for one in iterations if _scales(one)]
    clips = [e for e in training.trace.named(*CLIPS) if not e.handed]
    if not scaled or not clips:
        return Skipped()
    findings: dict[int, Finding] = {}
    for one in scaled:
        for clip in clips:
            if one.loop in clip.loops and _still_scaled(training, clip, one):
                findings.setdefault(id(clip.spot.node), _finding(clip, one))
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
    return by_scaler and not any(one.at < clip.at and iteration.loop in one.loops for one in undone)


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


_SCALER = "scaler = torch.amp.GradScaler()"
_CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
_BACK = "optimizer.zero_grad()\nloss = criterion(model(x), y)\nscaler.scale(loss).backward()\n"
_STEP = "scaler.step(optimizer)\nscaler.update()"


def fires() -> Scripts:
    yield script(after=_SCALER, body=_BACK + _CLIP + _STEP)
    yield script(after=_SCALER, body=_BACK + _CLIP + "scaler.unscale_(optimizer)\n" + _STEP)


def silent() -> Scripts:
    yield script(after=_SCALER, body=_BACK + "scaler.unscale_(optimizer)\n" + _CLIP + _STEP)
    yield script(after=_SCALER, body=_BACK + _STEP)
    yield script(after="scaler = torch.amp.GradScaler(enabled=False)", body=_BACK + _CLIP + _STEP)
