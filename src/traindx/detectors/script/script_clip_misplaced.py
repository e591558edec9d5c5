"""Gradients are clipped where it does nothing, or while they are still scaled.

Seen when `clip_grad_norm_` or `clip_grad_value_` stands in the training loop before the backward pass or
after the step, so that no clipped gradient ever reaches the optimizer; and when a scaled loss is
backpropagated and clipped with no `unscale_` in between.

Silent when clipping takes place in functions handed to a library. Known mistake: none yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import NO_LOOP, Looked, code, first, training_of, where
from traindx.script import Script
from traindx.script.mending import place, put_before
from traindx.script.roles import is_scaler
from traindx.script.trace import Event
from traindx.script.training import Iteration, Training
from traindx.script.values import Made
from traindx.units import Detector

DETECTOR = Detector(title="clipping at the wrong place", needs=("script",), family="script_clip")
_TOP = "from torch.nn.utils import clip_grad_norm_ as clip"
_BODY = "optimizer.zero_grad()\nloss = criterion(model(x), y)\n{}\n{}\n{}"
_SCALED = (
    "optimizer.zero_grad()\nloss = criterion(model(x), y)\nscaler.scale(loss).backward()\n{}\n"
    "clip(model.parameters(), 1.0)\nscaler.step(optimizer)\nscaler.update()"
)


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None or not training.iterations:
        return NO_LOOP
    clips = [
        e for e in training.trace.events if e.value.short.startswith(("clip_grad_norm", "clip_grad_value"))
    ]
    if not clips:
        return Skipped("a training loop that clips gradients")
    found: dict[int, Finding] = {}
    for iteration in training.iterations:
        own = [e for e in clips if iteration.loop in e.loops and not e.handed]
        if own and not iteration.step.event.handed:
            seen = _useless(iteration, own) or _scaled(training, iteration, own)
            if seen is not None:
                found.setdefault(id(own[0].spot.node), seen)
    return [*found.values()]


def _useless(iteration: Iteration, clips: list[Event]) -> Finding | None:
    """Clipping that no step sees: in two passes of the loop none comes between backward and step."""
    step = iteration.step.event
    moments = [(e.at, "backward") for e in iteration.backwards] + [(e.at, "clip") for e in clips]
    moments += [(step.at, "step")]
    clipped = False
    for _ in range(2):
        for _, what in sorted(moments):
            if what == "step" and clipped:
                return None
            clipped = what == "clip" or (clipped and what != "backward")
    clip, backward = clips[0], iteration.backwards[0]
    if clip.at < backward.at:
        told = f"comes before {code(backward.spot)} (line {backward.spot.line}): it clips nothing new"
    else:
        told = (
            f"comes after {code(step.spot)} (line {step.spot.line}): the step was made with the raw gradients"
        )
    text = f"{where(clip.spot)}: {code(clip.spot)} {told}."
    return Finding(text, "silent_defect", "medium", places=(place(clip.spot), place(step.spot)))


def _scaled(training: Training, iteration: Iteration, clips: list[Event]) -> Finding | None:
    """Clipping of gradients that are still multiplied by the loss scale."""
    scaler = iteration.step.scaler
    scaled = [e for e in iteration.backwards if _is_scaled(e)]
    if scaler is None or not scaled or len(scaled) < len(iteration.backwards):
        return None
    before = [e for e in training.trace.methods("unscale_") if iteration.loop in e.loops]
    clip = clips[0]
    if any(e.at < clip.at for e in before) or clip.at < scaled[0].at:
        return None
    import ast

    node = iteration.step.event.spot.node
    given = ast.unparse(node) if isinstance(node, ast.Call) else ""
    text = (
        f"{where(clip.spot)}: {code(clip.spot)} clips gradients that are still multiplied by the loss scale: "
        f"{given.replace('.step(', '.unscale_(')} must come before it."
    )
    edits = put_before(clip.spot, given.replace(".step(", ".unscale_("), "safe") if given else ()
    places = (place(clip.spot), place(iteration.step.event.spot))
    return Finding(text, "silent_defect", "high", places=places, edits=edits)


def _is_scaled(event: Event) -> bool:
    given = event.value.receiver
    return (
        isinstance(given, Made)
        and given.kind == "method"
        and given.name == "scale"
        and is_scaler(given.receiver)
    )


def fires() -> Iterator[Script]:
    yield script(
        body=_BODY.format("clip(model.parameters(), 1.0)", "loss.backward()", "optimizer.step()"), top=_TOP
    )
    yield script(
        body=_BODY.format("loss.backward()", "optimizer.step()", "clip(model.parameters(), 1.0)"), top=_TOP
    )
    yield script(body=_SCALED.format("pass"), setup="scaler = torch.amp.GradScaler()", top=_TOP)


def silent() -> Iterator[Script]:
    yield script(
        body=_BODY.format("loss.backward()", "clip(model.parameters(), 1.0)", "optimizer.step()"), top=_TOP
    )
    yield script(
        body=_SCALED.format("scaler.unscale_(optimizer)"), setup="scaler = torch.amp.GradScaler()", top=_TOP
    )
    yield script()
