"""Softmax runs over the batch instead of over the classes.

Seen when what reaches a loss was made by softmax or log_softmax with `dim=0`: the probabilities of one
sample do not sum to one, those of a batch do.

Silent when reshaping stands in between, or the value is not a loss's input. Known mistake: a loss over
the batch on purpose (contrastive losses take logits, not probabilities).
"""

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.flow import activation_spot
from traindx.source.roles import operation
from traindx.source.values import Made, Spot, number, options

DETECTOR = Detector(title="softmax over the batch", family="script_activation")


def detect(training: Training) -> Places:
    if not training.losses:
        return Skipped("a loss of PyTorch")
    findings: dict[int, Finding] = {}
    for loss in (x for x in training.losses if x.kind in ("nll_loss", "cross_entropy", "mse_loss", "kl_div")):
        for one in options(loss.given):
            if isinstance(one, Made) and operation(one) in ("softmax", "log_softmax") and _dim(one) == 0:
                spot = activation_spot(one) or loss.event.spot
                findings.setdefault(id(spot.node), _finding(spot, loss.event.spot))
    return [*findings.values()]


def _dim(call: Made) -> float | None:
    """The dimension that is normalised."""
    layer = call.receiver
    if call.kind == "apply" and isinstance(layer, Made):
        return number(layer.argument(0, "dim"))
    return number(call.argument(0 if call.kind == "method" else 1, "dim"))


def _finding(spot: Spot, loss: Spot) -> Finding:
    text = (
        f"{where(spot)}: {code(spot)} normalises over the batch, dimension 0, and the loss of line "
        f"{loss.line} takes it for probabilities of classes."
    )
    return Finding(text, "silent_defect", "high", places=(place(spot), place(loss)))


def fires() -> Scripts:
    yield script(
        setup="criterion = nn.NLLLoss()", forward="return F.log_softmax(self.second(self.first(x)), dim=0)"
    )


def silent() -> Scripts:
    yield script(
        setup="criterion = nn.NLLLoss()", forward="return F.log_softmax(self.second(self.first(x)), dim=1)"
    )
    yield script()
