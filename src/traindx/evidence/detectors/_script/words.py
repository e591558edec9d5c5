"""How findings name places and code."""

from __future__ import annotations

import os

from traindx.core.nouns import Skipped
from traindx.source.execution import CallEvent
from traindx.source.values import Made, Spot, Value

NO_LOOP = Skipped("a training loop in the script that can be followed")
_LONGEST = 60


def where(spot: Spot) -> str:
    """`train.py:12`."""
    return f"{os.path.basename(spot.source.path)}:{spot.line}"


def code(spot: Spot) -> str:
    """The code in quotes, cut when it is long."""
    text = spot.text
    return f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'}`"


def loss_of(event: CallEvent) -> Value:
    """What a backward pass is made of."""
    given, made = event.value.receiver, event.value
    if made.args and (made.kind == "call" or not isinstance(given, Made)):
        return made.args[0]
    return given if given is not None else made
