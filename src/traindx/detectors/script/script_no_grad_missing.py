"""Validation runs with gradients on: it builds graphs that nobody uses.

Seen when the model is put into eval mode, called in a loop of its own outside the training loop, and
neither `no_grad()` nor `inference_mode()` is around it, while nothing is backpropagated there.

It costs memory and time, not accuracy: a sign. Silent when inputs need gradients there (attacks,
saliency). Known mistake: none yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import NO_LOOP, Looked, code, first, training_of, where
from traindx.script import Script
from traindx.script.mending import place
from traindx.script.parameters import held
from traindx.script.roles import is_module
from traindx.script.trace import Event
from traindx.script.training import Training
from traindx.units import Detector

DETECTOR = Detector(title="validation with gradients on", needs=("script",), family="script_graph")


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None or not training.iterations:
        return NO_LOOP
    if training.managed or training.trace.named("torch.set_grad_enabled", "torch.autograd.grad"):
        return Skipped("a training loop of the script's own")
    ours = held(training)
    calls = [e for e in training.trace.events if e.value.kind == "apply" and is_module(e.value.receiver)]
    own = [e for e in calls if id(e.value.receiver) in ours and e.loops and e.root is None and not e.handed]
    loops = {one.loop for one in training.iterations}
    outside = [
        e for e in own if not loops & set(e.loops) and not any(e.loop in b.loops for b in training.backwards)
    ]
    found: dict[int, Finding] = {}
    for event in outside:
        if not event.grad_off and _evaluating(training, event) and not _inner(event, own):
            found.setdefault(id(event.spot.node), _finding(event))
    return [*found.values()][:1]


def _evaluating(training: Training, event: Event) -> bool:
    """Whether eval() was the last switch of modes before a call."""
    switches = [e for e in training.trace.methods("eval", "train") if e.at < event.at]
    return bool(switches) and switches[-1].value.name == "eval"


def _inner(event: Event, own: list[Event]) -> bool:
    """Whether the call is made by another model's forward."""
    names = {getattr(function, "name", "") for function in event.functions}
    return "forward" in names and len(own) > 1


def _finding(event: Event) -> Finding:
    text = (
        f"{where(event.spot)}: {code(event.spot)} is validation (eval() came before it), and gradients are "
        f"on: the loop around line {event.spot.line} belongs in torch.no_grad()."
    )
    return Finding(text, severity="low", places=(place(event.spot),))


def fires() -> Iterator[Script]:
    yield script(end="model.eval()\nfor a, b in val_loader: score = criterion(model(a), b).item()")


def silent() -> Iterator[Script]:
    yield script(end="model.eval()\nwith torch.no_grad():\n    for a, b in val_loader: print(model(a))")
    yield script()
