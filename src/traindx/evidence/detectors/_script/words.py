"""How findings name places and code."""

from __future__ import annotations

import os
from collections.abc import Iterable

from traindx.core.nouns import Finding, Skipped
from traindx.evidence.case import Case
from traindx.source.execution import Event
from traindx.source.ignoring import silenced
from traindx.source.training import Training
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


Looked = Iterable[Finding] | Skipped


def first(case: Case, module: str, looked: Looked) -> Finding | Skipped | None:
    """The first finding that no comment in the script silences."""
    if isinstance(looked, Skipped) or case.script is None:
        return looked if isinstance(looked, Skipped) else NO_LOOP
    id = module.rpartition(".")[2]
    found = list(looked)
    heard = [one for one in found if not silenced(case.script, id, one)]
    if found and not heard:
        return Skipped()
    return heard[0] if heard else None


def loss_of(event: Event) -> Value:
    """What a backward pass is made of."""
    given, made = event.value.receiver, event.value
    if made.args and (made.kind == "call" or not isinstance(given, Made)):
        return made.args[0]
    return given if given is not None else made


def training_of(case: Case) -> Training | None:
    """The training of a script that could be followed to its end."""
    if case.script is None or not case.script.trace.complete:
        return None
    return case.script.training
