"""Gradients are clipped where it has no effect: after the step or before the backward pass.

Seen when the call that clips stands after `optimizer.step()` or before `backward()`: the step uses
gradients as they are, and what is clipped is thrown away.

Silent with several optimizers in one loop, with closures, and when gradients are made by hand. Known
mistake: clipping without a limit, to measure the norm, is passed over only when the limit is written as
infinite.
"""

import math

from traindx.evidence.detectors._script import (
    Detector,
    Finding,
    Iteration,
    Iterations,
    Places,
    Script,
    Scripts,
    Skipped,
    Training,
    script,
)
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.values import Made, Named, Value, number

DETECTOR = Detector(title="clipping without effect", family="script_clip")
CLIPS = (
    "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad_value_",
    "torch.nn.utils.clip_grad_norm",
    "torch.nn.utils.clip_grad.clip_grad_norm_",
    "torch.nn.utils.clip_grad.clip_grad_value_",
)


def detect(training: Training, iterations: Iterations) -> Places:
    clips = [e for e in training.trace.named(*CLIPS) if not e.handed and _limits(e.value)]
    if not clips:
        return Skipped()
    findings: dict[int, Finding] = {}
    for clip in clips:
        for one in iterations:
            if one.loop in clip.loops and _alone(training, one):
                finding = _useless(clip, one)
                if finding is not None:
                    findings.setdefault(id(clip.spot.node), finding)
    return [*findings.values()]


def _limits(call: Made) -> bool:
    """Whether the limit is one: not infinite."""
    limit: Value | None = call.argument(1, "max_norm", "clip_value")
    plain = number(limit)
    named = isinstance(limit, Named) and limit.name in ("math.inf", "torch.inf", "numpy.inf")
    asked = isinstance(limit, Made) and limit.name == "float"
    return not named and not asked and (plain is None or math.isfinite(plain))


def _alone(training: Training, iteration: Iteration) -> bool:
    """Whether one optimizer steps in the loop, with gradients of a backward pass, once."""
    steps = [one for one in training.steps if iteration.loop in one.event.loops]
    by_hand = any(iteration.loop in made.loops for made in training.made_gradients)
    return len(steps) == 1 and not by_hand and not steps[0].event.handed and not steps[0].event.value.args[1:]


def _useless(clip: CallEvent, iteration: Iteration) -> Finding | None:
    step = iteration.step.event
    if step.value.args and iteration.step.scaler is None:
        return None
    moments = [(b.at, "backward") for b in iteration.backwards] + [(step.at, "step")]
    moments.sort()
    before = [one for one in moments if one[0] < clip.at] or moments
    last = before[-1][1]
    if last == "backward":
        return None
    after = step.at < clip.at
    backward = iteration.backwards[0]
    if after:
        phrase = f"comes after {code(step.spot)} (line {step.spot.line})"
    else:
        phrase = f"comes before {code(backward.spot)} (line {backward.spot.line})"
    text = f"{where(clip.spot)}: {code(clip.spot)} {phrase}: the step uses gradients that nobody clipped."
    other = step if after else backward
    return Finding(text, "silent_defect", "high", places=(place(clip.spot), place(other.spot)))


_CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
_ZERO, _LOSS, _BACK, _STEP = (
    "optimizer.zero_grad()",
    "loss = criterion(model(x), y)",
    "loss.backward()",
    "optimizer.step()",
)


def _body(*lines: str) -> Script:
    return script(body="\n".join(lines))


def fires() -> Scripts:
    yield _body(_ZERO, _LOSS, _CLIP, _BACK, _STEP)
    yield _body(_ZERO, _LOSS, _BACK, _STEP, _CLIP)
    yield _body(_LOSS, _BACK, _STEP, _CLIP, _ZERO)


def silent() -> Scripts:
    yield _body(_ZERO, _LOSS, _BACK, _CLIP, _STEP)
    yield _body(_ZERO, _LOSS, _BACK, f"if i % 2: {_CLIP}", _STEP)
    yield _body(_LOSS, _BACK, f"if i % 4 == 3:\n    {_CLIP}\n    {_STEP}\n    {_ZERO}")
    yield _body(_ZERO, _LOSS, _BACK, _STEP, "nn.utils.clip_grad_norm_(model.parameters(), float('inf'))")
    yield _body(_ZERO, _LOSS, _BACK, _STEP)
