"""The model is validated with gradients on: each pass builds a graph that nobody uses.

Seen when the model that is trained was switched to eval mode and is then called in a loop of its own,
outside of `no_grad()`, with no backward pass in it. It costs memory and time, not accuracy: a sign.

Silent when gradients are switched off in any other way, and where gradients of inputs are taken. Known
mistake: none yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.core.nouns import Finding, Skipped
from traindx.core.units import Detector
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.samples import script
from traindx.evidence.detectors._script.words import NO_LOOP, Looked, code, first, training_of, where
from traindx.source import Script
from traindx.source.edit_pieces import place
from traindx.source.execution import Event
from traindx.source.parameters import held
from traindx.source.training import Training

DETECTOR = Detector(title="validation with gradients", needs=("script",), family="script_validation_graph")
_QUIET = (
    "torch.no_grad",
    "torch.inference_mode",
    "torch.set_grad_enabled",
    "torch.autograd.grad_mode.set_grad_enabled",
)


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None or not training.iterations:
        return NO_LOOP
    if training.managed or not training.followed("eval") or not training.followed("train"):
        return Skipped("a training loop of the script's own that can be followed")
    if training.made_gradients or training.trace.named("torch.set_grad_enabled"):
        return Skipped()
    ours = held(training)
    calls = [e for e in training.trace.events if e.value.kind == "apply" and id(e.value.receiver) in ours]
    seen = [e for e in calls if e.loops and e.root is None and not e.handed and _evaluated(training, e)]
    found: dict[int, Finding] = {}
    for event in seen:
        if not event.grad_off and not any(name == "?" or name.startswith(_QUIET) for name in event.contexts):
            found.setdefault(id(event.loop), _finding(event))
    return [*found.values()] if seen else Skipped("a validation loop of the script's own")


def _evaluated(training: Training, event: Event) -> bool:
    """Whether the call stands in a loop without backward passes, after eval() in the same function."""
    loop = event.loops[-1]
    if any(loop in one.loops for one in training.backwards):
        return False
    switches = [e for e in training.trace.methods("eval", "train") if e.at < event.at]
    last = switches[-1] if switches else None
    plain = last is not None and last.value.name == "eval" and not last.value.args
    if last is None or not plain or last.value.receiver is not event.value.receiver:
        return False
    return (
        not any(last.at < one.at < event.at for one in training.backwards)
        and last.functions == event.functions
    )


def _finding(event: Event) -> Finding:
    text = (
        f"{where(event.spot)}: {code(event.spot)} evaluates the model with gradients on: without no_grad() "
        "each pass builds a graph that takes memory and time."
    )
    return Finding(text, severity="low", places=(place(event.spot),))


_LOOP = "for a, b in valid: right = (model(a).argmax(1) == b).sum()"


def fires() -> Iterator[Script]:
    yield script(end="model.eval()\n" + _LOOP)
    yield script(end="model.eval()\nfor a, b in valid:\n    criterion(model(a), b).item()")


def silent() -> Iterator[Script]:
    yield script(end=f"model.eval()\nwith torch.no_grad():\n    {_LOOP}")
    yield script(end=f"model.eval()\nwith torch.inference_mode():\n    {_LOOP}")
    yield script(end=_LOOP)
    yield script(end=f"model.eval()\ntorch.set_grad_enabled(False)\n{_LOOP}\ntorch.set_grad_enabled(True)")
    yield script()
