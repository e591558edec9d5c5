"""The loss sums over the batch, and plain SGD takes its usual rate.

Seen when what is backpropagated is a loss with `reduction="sum"`, not divided by anything, and the optimizer
is SGD with a rate of {sgd_lr} or more: the step is as many times larger as the batch has samples.

A sign: what rate is right the source does not show. Silent with optimizers that rescale gradients, and where
gradients are clipped. Known mistake: a batch of one sample.
"""

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, where
from traindx.source.edit_pieces import place
from traindx.source.roles import LossCall
from traindx.source.values import Const, Made, number

DETECTOR = Detector(title="summed loss with a usual rate", family="script_reduction")


def detect(training: Training, *, sgd_lr: float = 1e-3) -> Places:
    if not training.iterations:
        return NO_LOOP
    if not training.losses:
        return Skipped("a loss function of PyTorch in the script")
    clipped = any("clip_grad" in e.value.name for e in training.trace.events)
    rates = (
        []
        if clipped
        else [rate for one in _sgd(training) if (rate := number(one.argument(1, "lr"))) is not None]
    )
    if not rates or max(rates) < sgd_lr:
        return []
    backward = [loss_of(event) for event in training.backwards]
    findings: dict[int, Finding] = {}
    for loss in training.losses:
        if _sums(loss) and any(one is loss.event.value for one in backward):
            spot = loss.setup.spot or loss.event.spot
            text = (
                f"{where(spot)}: {code(spot)} sums over the batch, and SGD has a rate of {max(rates):g}: the "
                "step is as many times larger as a batch has samples."
            )
            findings.setdefault(id(spot.node), Finding(text, places=(place(spot),)))
    return [*findings.values()]


def _sgd(training: Training) -> list[Made]:
    made = [one for step in training.steps for one in step.optimizers]
    return [one for one in made if isinstance(one, Made) and one.name.endswith("optim.SGD")]


def _sums(loss: LossCall) -> bool:
    given = loss.setup.keywords.get("reduction")
    return isinstance(given, Const) and given.value == "sum"


_SGD = "torch.optim.SGD(model.parameters(), lr={})"
_SUM = "criterion = nn.CrossEntropyLoss(reduction='sum')"
_DIVIDED = "optimizer.zero_grad()\nloss = criterion(model(x), y) / len(x)\nloss.backward()\noptimizer.step()"


def fires() -> Scripts:
    yield script(setup=_SUM, optimizer=_SGD.format(0.1))
    yield script(setup=_SUM, optimizer=_SGD.format(0.01))


def silent() -> Scripts:
    yield script(optimizer=_SGD.format(0.1))
    yield script(setup=_SUM)
    yield script(setup=_SUM, optimizer=_SGD.format(1e-5))
    yield script(setup=_SUM, optimizer=_SGD.format(0.1), body=_DIVIDED)
