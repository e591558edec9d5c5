"""The activation before a loss, in PyTorch and in Keras."""

from __future__ import annotations

from collections.abc import Set

from traindx.core.nouns import Finding
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.keras import Compiled
from traindx.source.roles import LossCall, operation, unshaped
from traindx.source.values import Made, Value, options


def operation_before(loss: LossCall, kinds: Set[str]) -> Made | None:
    """What a loss is given, when on every way through the model it is one of these operations."""
    ways: list[Value] = [unshaped(value) for value in options(unshaped(loss.given))]
    if not ways or not all(operation(way) in kinds for way in ways):
        return None
    return ways[0] if isinstance(ways[0], Made) else None


def keras_finding(model: Compiled, fault: str) -> Finding:
    """A finding at the last layer of a Keras model, which does not fit the loss it is compiled with."""
    last = model.last.spot if model.last is not None else None
    spot = last if last is not None else model.event.spot
    text = f"{where(spot)}: {code(spot)} {fault}"
    return Finding(text, "silent_defect", "high", places=(place(spot), place(model.event.spot)))
