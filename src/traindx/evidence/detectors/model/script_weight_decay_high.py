"""The weight decay written in the script is far above the usual.

Seen for `decoupled` or more with AdamW, which multiplies it by the rate, and for `coupled` or more with the
other optimizers, which add it to the gradient.

A sign: how much a model stands the source does not show. Silent when the number is not known. Known mistake:
decay of a few parameters only, as of the codes of a dictionary.
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

DETECTOR = Detector(title="extreme weight decay", needs=("script",), family="regularisation")


def detect(case: Case, *, coupled: float = 0.1, decoupled: float = 2.0) -> Finding | Skipped | None:
    return first(case, __name__, look(case, coupled=coupled, decoupled=decoupled))


def look(case: Case, *, coupled: float = 0.1, decoupled: float = 2.0) -> Looked:
    """Every place where it is seen."""

    def out(_training: Training, one: Given) -> str:
        limit = decoupled if one.kind == "adamw" else coupled
        return (
            f"weight_decay is {one.value:g}; {limit:g} or more seldom lets learn"
            if one.value >= limit
            else ""
        )

    return looked(case, lambda training: given(training, -1, "weight_decay"), out)


def fires() -> Iterator[Script]:
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.5)")
    yield script(optimizer="torch.optim.Adam(model.parameters(), weight_decay=0.3)")


def silent() -> Iterator[Script]:
    yield script(optimizer="torch.optim.Adam(model.parameters(), weight_decay=1e-4)")
    yield script(optimizer="torch.optim.AdamW(model.parameters(), weight_decay=0.3)")
    yield script()
