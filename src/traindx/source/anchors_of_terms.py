"""Lines of a loss that is written by hand: the weight of a term, what is compared with the targets."""

from __future__ import annotations

from traindx.source.anchors_of_loop import main_iteration, origin
from traindx.source.training import Training
from traindx.source.values import Either, Made, Spot, Value, number, options


def penalty(training: Training) -> Spot | None:
    """The weight above one of a term of the loss, the largest."""
    found = main_iteration(training)
    loss = found.backwards[0].value.receiver if found is not None else None
    waiting, weights = options(loss), list[tuple[float, Value]]()
    for _ in range(60):
        if not waiting:
            break
        at = waiting.pop(0)
        if isinstance(at, Either):
            waiting += at.options
        elif isinstance(at, Made) and at.kind == "operator" and at.name in ("Add", "Sub", "Mult", "USub"):
            if at.name == "Mult":
                weights += [(abs(number(one) or 0.0), one) for one in at.args]
            waiting += at.args
    heaviest = max(weights, key=lambda pair: pair[0], default=None)
    return origin(heaviest[1]) if heaviest is not None and heaviest[0] > 1 else None


def compared(training: Training) -> Spot | None:
    """The difference of outputs and targets in a loss that is written by hand."""
    found = main_iteration(training)
    waiting = options(found.backwards[0].value.receiver) if found is not None else []
    for _ in range(60):
        if not waiting:
            return None
        at = waiting.pop(0)
        if isinstance(at, Either):
            waiting += at.options
        elif isinstance(at, Made) and at.kind == "operator" and at.name == "Sub":
            return at.spot
        elif isinstance(at, Made) and at.kind in ("operator", "method", "call"):
            waiting += [*([at.receiver] if at.receiver is not None else []), *at.args]
    return None
