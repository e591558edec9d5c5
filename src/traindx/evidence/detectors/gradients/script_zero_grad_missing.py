"""The training loop steps the optimizer but never clears the gradients.

Seen when a loop holds a backward pass and a step, and nothing in it, nor in the functions it calls, clears
the gradients: no `zero_grad()` of that optimizer or of a model, no `.grad = None`, no `.grad.zero_()`. A
`zero_grad()` once before the loop, or once an epoch while the optimizer steps per batch, is none.

Silent when a framework runs the loop, when the optimizer is handed to code that cannot be read, or when the
script clears somewhere that was not reached. Known mistake: none yet.
"""

from traindx.evidence.detectors._script import (
    Detector,
    Finding,
    Iteration,
    Places,
    Script,
    Scripts,
    Skipped,
    Training,
)
from traindx.evidence.detectors._script.gradients import clearing_edit
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place

DETECTOR = Detector(title="zero_grad missing", family="script_zero_grad")


def detect(training: Training) -> Places:
    if not (training.iterations or training.manual_updates):
        return NO_LOOP
    if not training.followed("zero_grad"):
        return Skipped("a way from the script's start to each of its zero_grad() calls")
    found = [_finding(training, one) for one in training.iterations if _missing(training, one)]
    return [*found, *_by_hand(training)]


def _by_hand(training: Training) -> list[Finding]:
    """Parameters updated in place by hand, gradients never cleared."""
    findings: dict[int, Finding] = {}
    for update in training.manual_updates:
        loop = next(
            (one for one in reversed(update.loops) if any(one in b.loops for b in training.backwards)), None
        )
        if loop is None or update.handed or any(loop in zero.loops for zero in training.zeros):
            continue
        backward = next(b for b in training.backwards if loop in b.loops)
        text = (
            f"{where(backward.spot)}: {code(backward.spot)} adds to the gradients that are there; nothing "
            f"in the loop clears them: line {update.spot.line}, {code(update.spot)}, uses their sum."
        )
        places = (place(backward.spot), place(update.spot))
        findings.setdefault(id(update.spot.node), Finding(text, "silent_defect", "high", places=places))
    return [*findings.values()]


def _missing(training: Training, iteration: Iteration) -> bool:
    step = iteration.step
    if iteration.zeros or step.event.handed or not step.optimizers:
        return False
    if any(iteration.loop in made.loops for made in training.made_gradients):
        return False
    return not any(training.given_away(one, iteration.loop) for one in step.optimizers)


def _finding(training: Training, iteration: Iteration) -> Finding:
    step, backward = iteration.step.event.spot, iteration.backwards[0].spot
    outer = [z for z in training.zeros if set(z.loops) & set(iteration.step.event.loops)]
    phrase = "nothing in the loop clears the gradients"
    if outer:
        phrase = f"zero_grad() is called once per pass of an outer loop ({where(outer[0].event.spot)}) only"
    text = (
        f"{where(backward)}: {code(backward)} adds to the gradients that are there, and {phrase}: "
        f"{code(step)} in line {step.line} uses the sum of all gradients so far."
    )
    places = (place(backward), place(step))
    return Finding(text, "silent_defect", "high", places=places, edits=clearing_edit(iteration))


_LOOP = """
import torch
from torch import nn, optim
model = nn.Linear(4, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
{before}
for epoch in range(3):
    {epoch}
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        {start}
        loss.backward()
        {middle}
"""


def _script(**parts: str) -> Script:
    from traindx.source.script import parse_script

    filled = {name: parts.get(name, "pass") for name in ("before", "epoch", "start", "middle")}
    return parse_script(_LOOP.format(**filled))


def fires() -> Scripts:
    yield _script(middle="opt.step()")
    yield _script(before="opt.zero_grad()", middle="opt.step()")
    yield _script(epoch="opt.zero_grad()", middle="opt.step()")
    yield _script(before="def update(o):\n    o.step()", middle="update(opt)")


def silent() -> Scripts:
    yield _script(start="opt.zero_grad()", middle="opt.step()")
    yield _script(middle="opt.step(); model.zero_grad(set_to_none=True)")
    yield _script(start="for p in model.parameters(): p.grad = None", middle="opt.step()")
    yield _script(before="def update(o):\n    o.step()\n    o.zero_grad()", middle="update(opt)")
    yield _script(before="import helpers", middle="helpers.update(opt); opt.step()")
