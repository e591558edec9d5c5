"""Predictions and targets are handed to the loss in the wrong order.

Seen when the first argument of a loss that is not symmetric (cross-entropy of any kind, KL divergence)
comes from no layer and the second comes from the model.

Silent when both come from layers (distillation), or neither does. Known mistake: none yet.
"""

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.flow import reach
from traindx.source.roles import LossCall
from traindx.source.values import Made

DETECTOR = Detector(title="predictions and targets swapped", family="script_loss")
_ORDERED = frozenset(
    "cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div".split()
)
_BODY = "optimizer.zero_grad()\nloss = criterion({}, {})\nloss.backward()\noptimizer.step()"


def detect(training: Training) -> Places:
    losses = [x for x in training.losses if x.kind in _ORDERED]
    if not losses:
        return Skipped("a loss of PyTorch whose arguments have an order")
    findings: dict[int, Finding] = {}
    for loss in losses:
        if loss.target is None or reach(loss.given).alive or reach(loss.given).cut:
            continue
        if reach(loss.target).alive and isinstance(loss.given, Made):
            findings.setdefault(id(loss.event.spot.node), _finding(loss))
    return [*findings.values()]


def _finding(loss: LossCall) -> Finding:
    spot = loss.event.spot
    text = (
        f"{where(spot)}: {code(spot)} gets the targets first and what the model gives second; {loss.kind} "
        f"takes predictions first (line {spot.line})."
    )
    return Finding(text, "silent_defect", "high", places=(place(spot),))


def fires() -> Scripts:
    yield script(setup="criterion = nn.BCEWithLogitsLoss()", body=_BODY.format("y", "model(x)"))


def silent() -> Scripts:
    yield script(setup="criterion = nn.BCEWithLogitsLoss()", body=_BODY.format("model(x)", "y"))
    yield script(setup="criterion = nn.MSELoss()", body=_BODY.format("y", "model(x)"))
    yield script(
        setup="criterion = nn.KLDivLoss()\nteacher = Net()", body=_BODY.format("model(x)", "teacher(x)")
    )
