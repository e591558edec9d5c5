"""The optimizer steps in a loop, but nothing computes gradients.

Seen when the script steps an optimizer in a loop and nowhere calls `backward()` or `autograd.grad`, nor
sets gradients by hand. In Lightning: `training_step` returns nothing.

Silent when losses go to code that cannot be read, or `backward` is
written somewhere that was not reached. Known mistake: none yet.
"""

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place, put_before
from traindx.source.execution import Binding
from traindx.source.script import parse_script
from traindx.source.values import Made, Spot

_MODULE = """
import lightning as L
import torch
from torch import nn
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
    def training_step(self, batch, at):
        loss = nn.functional.mse_loss(self.layer(batch[0]), batch[1])
        {}
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
L.Trainer(max_epochs=3).fit(Net(), loader)
"""
DETECTOR = Detector(title="backward missing", family="script_step_order")


def detect(training: Training) -> Places:
    steps = [one for one in training.steps if one.event.loops and not one.event.handed]
    if not steps:
        return NO_LOOP
    if training.backwards or training.made_gradients or _elsewhere(training):
        return [] if training.backwards else Skipped("a backward pass that the script itself makes")
    known = [
        one
        for one in steps
        if one.optimizers and all(isinstance(o, Made) and o.kind == "call" for o in one.optimizers)
    ]
    if not known or known[0].event.value.args:
        return Skipped("an optimizer that the script makes")
    step = known[0].event
    losses = [b for b in training.trace.bindings if "loss" in b.name.lower() and step.loop in b.loops]
    if losses and training.managed:
        return [_not_returned(losses[-1].spot)]
    return [_finding(step.spot, losses)] if losses else Skipped("a loss in the loop")


def _elsewhere(training: Training) -> bool:
    """Whether the word stands anywhere in the script: a helper that was not reached, a library's function."""
    return any("backward" in source.text or "autograd" in source.text for source in training.script.sources)


def _not_returned(loss: Spot) -> Finding:
    text = (
        f"{where(loss)}: the loss of {code(loss)} is not returned by `training_step`: Lightning has nothing "
        "to minimise, and the weights never change."
    )
    return Finding(text, "silent_defect", "high", places=(place(loss),))


def _finding(step: Spot, losses: list[Binding]) -> Finding:
    loss = losses[-1]
    text = (
        f"{where(step)}: {code(step)} is called in the loop, but nothing computes gradients of the loss of "
        f"line {loss.spot.line}: the weights never change."
    )
    edits = put_before(step, f"{loss.name}.backward()", "ask")
    return Finding(text, "silent_defect", "high", places=(place(step), place(loss.spot)), edits=edits)


def fires() -> Scripts:
    yield parse_script(_MODULE.format("self.log('loss', loss)"))
    yield script(body="optimizer.zero_grad()\nloss = criterion(model(x), y)\noptimizer.step()")


def silent() -> Scripts:
    yield parse_script(_MODULE.format("return loss"))
    yield parse_script(_MODULE.format("return {'loss': loss}"))
    yield parse_script(_MODULE.format("if at: return loss"))
    yield script()
    yield script(body="loss = criterion(model(x), y)\naccelerator.backward(loss)\noptimizer.step()")
    yield script(body="loss = my_closure(model, x, y)\noptimizer.step(loss)")
