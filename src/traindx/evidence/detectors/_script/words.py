"""How findings name places and code."""

from __future__ import annotations

import os

from traindx.core.nouns import Skipped
from traindx.source.execution import CallEvent
from traindx.source.roles import LossCall
from traindx.source.values import Const, Made, Spot, Value

NO_LOOP = Skipped("a training loop in the script that can be followed")
_LONGEST = 60


def where(spot: Spot) -> str:
    """`train.py:12`."""
    return f"{os.path.basename(spot.source.path)}:{spot.line}"


def code(spot: Spot) -> str:
    """The code in quotes, cut when it is long."""
    text = spot.text
    return f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'}`"


def sums(loss: LossCall | None) -> bool:
    """Whether a loss is made to add up its batch."""
    reduction = loss.setup.keywords.get("reduction") if loss is not None else None
    return isinstance(reduction, Const) and reduction.value == "sum"


def loss_of(event: CallEvent) -> Value:
    """What a backward pass is made of."""
    receiver, call = event.value.receiver, event.value
    if call.args and (call.kind == "call" or not isinstance(receiver, Made)):
        return call.args[0]
    return receiver if receiver is not None else call
