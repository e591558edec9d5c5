"""Lines of the loss: where it is made, called and added up; the weight of a term, what is compared."""

from __future__ import annotations

from traindx.source.anchors_of_loop import LOSS, origin
from traindx.source.training import Training
from traindx.source.values import Either, Made, Spot, Value, number, options, upstream

_SUMS = ("Add", "Sub", "Mult", "USub")


def loss(training: Training) -> Spot | None:
    """Where the loss function is made; for one of the script's own, where it is called."""
    return _training_loss(training) or loss_call(training)


def _training_loss(training: Training) -> Spot | None:
    graded = training.trained_losses
    if graded and graded[0].setup.spot is not None:
        return graded[0].setup.spot
    for event in training.trace.methods("compile"):
        compiled = event.value.argument(1, "loss")
        if compiled is not None:
            return origin(compiled)
    return None


def loss_call(training: Training) -> Spot | None:
    """The statement of the training loop that computes the loss."""
    if training.main is None:
        return None
    backward = training.main.backwards[0]
    inner = [b for b in training.trace.bindings if training.in_main_loop(b) and b.at < backward.at]
    losses = [b for b in inner if LOSS.search(b.name)]
    return losses[-1].spot if losses else backward.spot


def _backpropagated(training: Training) -> list[Value]:
    """What the backward pass of the training loop starts from."""
    return options(training.main.backwards[0].value.receiver) if training.main is not None else []


def loss_sum(training: Training) -> Spot | None:
    """Where the terms of what is backpropagated are added up."""
    sums = (at for at in _backpropagated(training) if isinstance(at, Made) and at.kind == "operator")
    return next((at.spot for at in sums if at.name == "Add"), None)


def penalty(training: Training) -> Spot | None:
    """The weight above one of a term of the loss, the largest."""
    products = (
        at
        for at in upstream(_backpropagated(training), _terms, 60)
        if isinstance(at, Made) and at.kind == "operator" and at.name == "Mult"
    )
    weights = [(abs(number(factor) or 0.0), factor) for at in products for factor in at.args]
    heaviest = max(weights, key=lambda pair: pair[0], default=None)
    return origin(heaviest[1]) if heaviest is not None and heaviest[0] > 1 else None


def _terms(value: Value) -> list[Value]:
    if isinstance(value, Either):
        return value.options
    is_sum = isinstance(value, Made) and value.kind == "operator" and value.name in _SUMS
    return value.args if is_sum and isinstance(value, Made) else []


def compared(training: Training) -> Spot | None:
    """The difference of outputs and targets in a loss that is written by hand."""
    for at in upstream(_backpropagated(training), _operands, 60):
        if isinstance(at, Made) and at.kind == "operator" and at.name == "Sub":
            return at.spot
    return None


def _operands(value: Value) -> list[Value]:
    if isinstance(value, Made) and value.kind in ("operator", "method", "call"):
        return [*([value.receiver] if value.receiver is not None else []), *value.args]
    return value.options if isinstance(value, Either) else []
