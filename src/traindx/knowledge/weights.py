"""How much a finding weighs on a cause: the evidence tables of the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from traindx.core.units import plugin_detectors
from traindx.knowledge.pages import Page, table


@dataclass(frozen=True)
class Weight:
    """Bits of a finding for a cause: when it is found, and when it was checked and not found."""

    seen: float
    unseen: float
    why: str


def evidence_of(page: Page) -> Mapping[str, Weight]:
    """The evidence table of a cause's page, by finding."""
    weights = {}
    rows = table(page.section("Evidence"))
    if page.section("Evidence").count("\n|") != len(rows) + 1:
        raise page.malformed("the evidence must be one table, with no text between its rows")
    for row in rows:
        if len(row) != 4:
            raise page.malformed(f"an evidence row needs 4 cells, got {row!r}")
        finding = row[0].strip("`")
        if finding in weights:
            raise page.malformed(f"the finding {finding!r} occurs twice in the evidence")
        try:
            seen, unseen = (float(cell) if cell else 0.0 for cell in row[1:3])
        except ValueError:
            raise page.malformed(f"the bits of {finding!r} must be numbers, got {row[1:3]!r}") from None
        weights[finding] = Weight(seen, unseen, row[3])
    for unit in plugin_detectors():
        if page.id in unit.speaks_for and unit.id not in weights:
            weights[unit.id] = Weight(*unit.speaks_for[page.id], f"declared by {unit.module}")
    return MappingProxyType(weights)
