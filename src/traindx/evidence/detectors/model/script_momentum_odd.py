"""The momentum written in the script makes SGD run away.

Seen for SGD with a momentum of `most` or more: what was added once stays for hundreds of steps. From 1 on it
never fades, and steps grow without end; below that it is a sign.

Silent when the number is not known. Known mistake: none yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from traindx.core.nouns import Finding, Skipped
from traindx.core.units import Detector
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.numbers_given import Given, given, is_plain, looked
from traindx.evidence.detectors._script.samples import script
from traindx.evidence.detectors._script.words import Looked, first
from traindx.source import Script
from traindx.source.training import Training

DETECTOR = Detector(title="momentum of 1 or more", needs=("script",), family="momentum")


def detect(case: Case, *, most: float = 0.995) -> Finding | Skipped | None:
    return first(case, __name__, look(case, most=most))


def look(case: Case, *, most: float = 0.995) -> Looked:
    """Every place where it is seen."""

    def endless(_training: Training, one: Given) -> str:
        odd = is_plain(one) and one.value >= 1
        return f"momentum is {one.value:g}: from 1 on past steps never fade" if odd else ""

    def long(_training: Training, one: Given) -> str:
        odd = is_plain(one) and most <= one.value < 1
        return (
            f"momentum is {one.value:g}: each step is felt for {1 / (1 - one.value):.0f} more" if odd else ""
        )

    certain = looked(case, _momenta, endless, "silent_defect", "high")
    return certain if isinstance(certain, Skipped) else [*certain, *_listed(looked(case, _momenta, long))]


def _momenta(training: Training) -> list[Given]:
    return given(training, 2, "momentum")


def _listed(seen: Looked) -> list[Finding]:
    """Findings that are less certain."""
    return [] if isinstance(seen, Skipped) else [replace(one, strength=0.6) for one in seen]


def fires() -> Iterator[Script]:
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=0.1, momentum=1.2)")
    yield script(optimizer="torch.optim.SGD(model.parameters(), 0.1, 1.0)")
    yield script(optimizer="torch.optim.SGD(model.parameters(), 0.1, 0.998)")


def silent() -> Iterator[Script]:
    yield script()
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.99)")
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=0.1, momentum=read())")
