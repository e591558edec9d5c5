"""Gradients in the script: cut off, or kept."""

import re

from traindx.evidence.detector import Cases, Detector
from traindx.evidence.detectors._script import Finding, Iteration, Places, Script, Severity, Skipped, Training
from traindx.evidence.detectors._script.gradients import clearing_edit
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, where
from traindx.source.edit_pieces import place
from traindx.source.flow import Reach, owner, reach
from traindx.source.parameters import frozen, held
from traindx.source.script import parse_script
from traindx.source.values import Made, Value

_MAY_BE_MEANT = re.compile(
    r"backbone|encoder|teacher|target|frozen|feature|pretrain|base|body|prior|momentum"
)
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


@Detector("loss detached from layers", family="script_detached", measured_by="parameters_without_gradient")
def script_loss_detached(training: Training) -> Places:
    """The way from the loss back to a layer is cut: by detach, .data, .item(), numpy or argmax.

    Seen when a layer whose parameters an optimizer holds is reached by no loss except through such a cut: it
    gets no gradient and never learns. All losses that are backpropagated count together, so a generator that
    is detached for the critic's loss is reached by its own.

    Silent when the cut layers are frozen, or not in the optimizer, or when the cut is made by `no_grad()`,
    or the model cannot be followed. A plain `detach()` in front of a part that bears the name of a backbone,
    an encoder or a teacher may be meant: then it is reported as doubtful. Known mistake: a freeze by
    `detach()` under another name while the optimizer holds all parameters.
    """
    backwards = [e for e in training.backwards if e.loops]
    if not backwards:
        return NO_LOOP
    reached = [reach(loss_of(event)) for event in backwards]
    alive = {id(layer) for way in reached for layer in way.alive}
    if not any(way.alive or way.cut for way in reached):
        return Skipped("a loss whose way back to the layers can be followed")
    return list(_cut_findings(training, reached, alive).values())


def _cut_findings(training: Training, reached: list[Reach], alive: set[int]) -> dict[int, Finding]:
    findings: dict[int, Finding] = {}
    ours, still = held(training), frozen(training)
    for way in reached:
        lost = [(layer, by) for layer, by in way.cut if id(layer) not in alive and id(layer) in ours]
        for layer, by in lost:
            if id(layer) not in still and by.spot is not None and not _gradients_off(training, by):
                findings.setdefault(id(by.spot.node), _finding(training, layer, by, everything=not alive))
    return findings


def _gradients_off(training: Training, by: Made) -> bool:
    """Whether the cut stands where gradients are off anyway."""
    events = [e for e in training.trace.events if e.value is by]
    return bool(events) and all(event.grad_off for event in events)


def _finding(training: Training, layer: Value, by: Made, *, everything: bool) -> Finding:
    assert by.spot is not None
    holder = owner(layer, training.trace.instances)
    name = holder[1] if holder else ""
    doubtful = by.name == "detach" and bool(_MAY_BE_MEANT.search(f"{name} {by.spot.text}".lower()))
    severity: Severity = "low" if doubtful and not everything else "high"
    origin_spot = layer.spot
    lost = (
        f"{code(origin_spot)} (line {origin_spot.line})"
        if origin_spot is not None
        else "the layers before it"
    )
    phrase = "no layer learns" if everything else f"{lost} gets no gradient although the optimizer holds it"
    text = f"{where(by.spot)}: {code(by.spot)} cuts the way from the loss back: {phrase}."
    return Finding(text, "silent_defect", severity, places=(place(by.spot),))


_TRAIN = """
import torch, torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 3)
    def forward(self, x):
        h = {hidden}
        return self.second(h)
model = Net()
{setup}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    {loss}
    optimizer.step()
"""


def _script(hidden: str = "self.first(x)", loss: str = "loss.backward()", setup: str = "pass") -> Script:
    return parse_script(_TRAIN.format(hidden=hidden, loss=loss, setup=setup))


@Detector("zero_grad missing", family="script_zero_grad", measured_by="gradients_not_zeroed")
def script_zero_grad_missing(training: Training) -> Places:
    """The training loop steps the optimizer but never clears the gradients.

    Seen when a loop holds a backward pass and a step, and nothing in it, nor in the functions it calls,
    clears the gradients: no `zero_grad()` of that optimizer or of a model, no `.grad = None`, no
    `.grad.zero_()`. A `zero_grad()` once before the loop, or once an epoch while the optimizer steps per
    batch, is none.

    Silent when a framework runs the loop, when the optimizer is handed to code that cannot be read, or when
    the script clears somewhere that was not reached. Known mistake: none yet.
    """
    if not (training.iterations or training.manual_updates):
        return NO_LOOP
    if not training.followed("zero_grad"):
        return Skipped("a way from the script's start to each of its zero_grad() calls")
    findings = [
        _zero_grad_missing_finding(training, iteration)
        for iteration in training.iterations
        if _missing(training, iteration)
    ]
    return [*findings, *_by_hand(training)]


def _by_hand(training: Training) -> list[Finding]:
    """Parameters updated in place by hand, gradients never cleared."""
    findings: dict[int, Finding] = {}
    for update in training.manual_updates:
        loop = next(
            (loop for loop in reversed(update.loops) if any(loop in b.loops for b in training.backwards)),
            None,
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
    if any(iteration.loop in gradient.loops for gradient in training.made_gradients):
        return False
    return not any(training.given_away(optimizer, iteration.loop) for optimizer in step.optimizers)


def _zero_grad_missing_finding(training: Training, iteration: Iteration) -> Finding:
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


def _looping(**parts: str) -> Script:
    filled = {name: parts.get(name, "pass") for name in ("before", "epoch", "start", "middle")}
    return parse_script(_LOOP.format(**filled))


def cases() -> Cases:
    yield from script_loss_detached.fires(
        _script("torch.relu(self.first(x)).detach()"),
        _script("self.first(x).data.relu()"),
        _script(loss="loss = torch.tensor(loss.item(), requires_grad=True); loss.backward()"),
        _script(loss="torch.autograd.Variable(loss.data, requires_grad=True).backward()"),
    )
    yield from script_loss_detached.silent(
        _script(),
        _script("self.first(x) + self.first(x).detach()"),
        _script("self.first(x).detach()", setup="model.first.requires_grad_(False)"),
        _script(loss="loss.backward(); total = loss.detach()"),
        _script("self.first(x) * (self.first(x).argmax() > 0)"),
    )
    yield from script_zero_grad_missing.fires(
        _looping(middle="opt.step()"),
        _looping(before="opt.zero_grad()", middle="opt.step()"),
        _looping(epoch="opt.zero_grad()", middle="opt.step()"),
        _looping(before="def update(o):\n    o.step()", middle="update(opt)"),
    )
    yield from script_zero_grad_missing.silent(
        _looping(start="opt.zero_grad()", middle="opt.step()"),
        _looping(middle="opt.step(); model.zero_grad(set_to_none=True)"),
        _looping(start="for p in model.parameters(): p.grad = None", middle="opt.step()"),
        _looping(before="def update(o):\n    o.step()\n    o.zero_grad()", middle="update(opt)"),
        _looping(before="import helpers", middle="helpers.update(opt); opt.step()"),
    )
