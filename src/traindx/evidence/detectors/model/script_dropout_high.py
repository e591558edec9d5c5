"""Dropout written in the script leaves next to nothing.

Seen for layers that drop a share of `most` or more.

A sign. Silent when the number is not known. Known mistake: dropout of whole inputs, as in masked modelling.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.core.nouns import Finding, Skipped
from traindx.core.units import Detector
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.numbers_given import Given, drop_shares, looked
from traindx.evidence.detectors._script.samples import script
from traindx.evidence.detectors._script.words import Looked, first
from traindx.source import Script
from traindx.source.training import Training

DETECTOR = Detector(title="extreme dropout", needs=("script",), family="regularisation")
_DROP = "self.drop = nn.Dropout({})"


def detect(case: Case, *, most: float = 0.85) -> Finding | Skipped | None:
    return first(case, __name__, look(case, most=most))


def look(case: Case, *, most: float = 0.85) -> Looked:
    """Every place where it is seen."""

    def out(_training: Training, one: Given) -> str:
        return (
            f"dropout of {one.value:g} leaves {1 - one.value:.2g} of each layer" if one.value >= most else ""
        )

    return looked(case, drop_shares, out)


def fires() -> Iterator[Script]:
    yield script(init=_DROP.format(0.95))
    yield script(init=_DROP.format("p=0.9"))


def silent() -> Iterator[Script]:
    yield script(init=_DROP.format(0.5))
    yield script(init=_DROP.format("rate"))
    yield script()
