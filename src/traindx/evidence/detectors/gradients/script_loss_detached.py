"""The way from the loss back to a layer is cut: by detach, .data, .item(), numpy or argmax.

Seen when a layer whose parameters an optimizer holds is reached by no loss except through such a cut: it
gets no gradient and never learns. All losses that are backpropagated count together, so a generator that
is detached for the critic's loss is reached by its own.

Silent when the cut layers are frozen, or not in the optimizer, or when the cut is made by `no_grad()`, or
the model cannot be followed. A plain `detach()` in front of a part that bears the name of a backbone, an
encoder or a teacher may be meant: then it is reported as doubtful. Known mistake: a freeze by `detach()`
under another name while the optimizer holds all parameters.
"""

import re

from traindx.evidence.detectors._script import (
    Detector,
    Finding,
    Places,
    Script,
    Scripts,
    Severity,
    Skipped,
    Training,
)
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, where
from traindx.source.edit_pieces import place
from traindx.source.flow import Reach, owner, reach
from traindx.source.parameters import frozen, held
from traindx.source.values import Instance, Made, Value

DETECTOR = Detector(title="loss detached from layers", family="script_detached")
_MAY_BE_MEANT = re.compile(
    r"backbone|encoder|teacher|target|frozen|feature|pretrain|base|body|prior|momentum"
)


def detect(training: Training) -> Places:
    backwards = [e for e in training.backwards if e.loops]
    if not backwards:
        return NO_LOOP
    reached = [reach(loss_of(event)) for event in backwards]
    alive = {id(layer) for one in reached for layer in one.alive}
    if not any(one.alive or one.cut for one in reached):
        return Skipped("a loss whose way back to the layers can be followed")
    return list(_found(training, reached, alive).values())


def _found(training: Training, reached: list[Reach], alive: set[int]) -> dict[int, Finding]:
    findings: dict[int, Finding] = {}
    ours, still = held(training), frozen(training)
    for one in reached:
        lost = [(layer, by) for layer, by in one.cut if id(layer) not in alive and id(layer) in ours]
        for layer, by in lost:
            if id(layer) not in still and by.spot is not None and not _meant(training, by):
                findings.setdefault(id(by.spot.node), _finding(training, layer, by, everything=not alive))
    return findings


def _meant(training: Training, by: Made) -> bool:
    """Whether the cut stands where gradients are off anyway."""
    events = [e for e in training.trace.events if e.value is by]
    return bool(events) and all(event.grad_off for event in events)


def _finding(training: Training, layer: Value, by: Made, *, everything: bool) -> Finding:
    assert by.spot is not None
    holder = owner(layer, [one for one in training.trace.instances if isinstance(one, Instance)])
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
    from traindx.source.script import parse_script

    return parse_script(_TRAIN.format(hidden=hidden, loss=loss, setup=setup))


def fires() -> Scripts:
    yield _script("torch.relu(self.first(x)).detach()")
    yield _script("self.first(x).data.relu()")
    yield _script(loss="loss = torch.tensor(loss.item(), requires_grad=True); loss.backward()")
    yield _script(loss="torch.autograd.Variable(loss.data, requires_grad=True).backward()")


def silent() -> Scripts:
    yield _script()
    yield _script("self.first(x) + self.first(x).detach()")
    yield _script("self.first(x).detach()", setup="model.first.requires_grad_(False)")
    yield _script(loss="loss.backward(); total = loss.detach()")
    yield _script("self.first(x) * (self.first(x).argmax() > 0)")
