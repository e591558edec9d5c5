"""The momentum written in the script makes SGD run away.

Seen for SGD with a momentum of 1 or more: what was added once never fades, and steps grow without end.

Silent when the number is not known. Known mistake: none yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._settings import Given, given, is_plain, looked
from traindx.detectors.script._words import Looked, first
from traindx.script import Script
from traindx.script.training import Training
from traindx.units import Detector

DETECTOR = Detector(title="momentum of 1 or more", needs=("script",), family="momentum")


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""

    def out(_training: Training, one: Given) -> str:
        odd = is_plain(one) and one.value >= 1
        return f"momentum is {one.value:g}: from 1 on past steps never fade" if odd else ""

    return looked(case, lambda training: given(training, 2, "momentum"), out, "silent_defect", "high")


def fires() -> Iterator[Script]:
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=0.1, momentum=1.2)")
    yield script(optimizer="torch.optim.SGD(model.parameters(), 0.1, 1.0)")


def silent() -> Iterator[Script]:
    yield script()
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.99)")
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=0.1, momentum=read())")
