"""The line of the weight of a term of the loss."""

from __future__ import annotations

from traindx.script.anchors_of_loop import main_iteration, origin
from traindx.script.training import Training
from traindx.script.values import Either, Made, Spot, Value, number, options


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
