"""The learning rate written in the script is so low that nothing can be learnt with it.

Seen for `lowest` or less with Adam, SGD and their kin.

A sign: a schedule may raise it. Silent when the number is not known, and for 0, which is set on purpose.
Known mistake: a summed loss over very many samples.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.core.nouns import Finding, Skipped
from traindx.core.units import Detector
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.numbers_given import Given, given, looked
from traindx.evidence.detectors._script.samples import script
from traindx.evidence.detectors._script.words import Looked, first
from traindx.source import Script
from traindx.source.training import Training

DETECTOR = Detector(title="vanishing learning rate", needs=("script",), family="lr_value")


def detect(case: Case, *, lowest: float = 1e-7) -> Finding | Skipped | None:
    return first(case, __name__, look(case, lowest=lowest))


def look(case: Case, *, lowest: float = 1e-7) -> Looked:
    """Every place where it is seen."""

    def out(_training: Training, one: Given) -> str:
        low = 0 < one.value <= lowest
        return (
            f"the learning rate is {one.value:g}; with {lowest:g} or less weights hardly move" if low else ""
        )

    return looked(case, lambda training: given(training, 1, "lr", "learning_rate"), out)


def fires() -> Iterator[Script]:
    yield script(optimizer="torch.optim.Adam(model.parameters(), lr=1e-8)")
    yield script(setup="RATE = 1e-9", optimizer="torch.optim.SGD(model.parameters(), lr=RATE)")


def silent() -> Iterator[Script]:
    yield script()
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=1e-5)")
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=find_rate())")
