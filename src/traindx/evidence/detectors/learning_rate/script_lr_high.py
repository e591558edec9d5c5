"""The learning rate written in the script is far above what its optimizer stands.

Seen for `adaptive` or more with Adam and its kin, and `plain` or more with SGD (`clipped` where gradients are
clipped).

What else the script does to such a rate the source does not always show: a sign. Silent when the number is
not known. Known mistake: a rate that a schedule of the script multiplies down.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.core.nouns import Finding, Skipped
from traindx.core.units import Detector
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.numbers_given import Given, clips, given, is_plain, looked
from traindx.evidence.detectors._script.samples import script
from traindx.evidence.detectors._script.words import Looked, first
from traindx.source import Script
from traindx.source.training import Training

DETECTOR = Detector(title="extreme learning rate", needs=("script",), family="lr_value")


def detect(
    case: Case, *, adaptive: float = 0.1, plain: float = 3.0, clipped: float = 10.0
) -> Finding | Skipped | None:
    return first(case, __name__, look(case, adaptive=adaptive, plain=plain, clipped=clipped))


def look(case: Case, *, adaptive: float = 0.1, plain: float = 3.0, clipped: float = 10.0) -> Looked:
    """Every place where it is seen."""

    def out(training: Training, one: Given) -> str:
        limit = adaptive if not is_plain(one) else clipped if clips(training) else plain
        return (
            f"the learning rate is {one.value:g}; {limit:g} or more seldom works"
            if one.value >= limit
            else ""
        )

    return looked(case, lambda training: given(training, 1, "lr", "learning_rate"), out)


def fires() -> Iterator[Script]:
    yield script(optimizer="torch.optim.Adam(model.parameters(), lr=1.0)")
    yield script(setup="RATE = 10", optimizer="torch.optim.SGD(model.parameters(), lr=RATE)")


def silent() -> Iterator[Script]:
    yield script()
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)")
    yield script(optimizer="torch.optim.AdamW(model.parameters(), lr=find_rate())")
    yield script(optimizer="torch.optim.LBFGS(model.parameters(), lr=1.0)")
