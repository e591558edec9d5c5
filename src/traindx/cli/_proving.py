"""What a proof says while it runs: one line for each pair, and one that moves on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from traindx.cli._treating import TreatProgress
from traindx.report.document import Block, Labelled
from traindx.report.text import lasting

if TYPE_CHECKING:
    from traindx.experiment.arms import Outcome
    from traindx.experiment.prove.results import VersionVerdict


class ProveProgress(TreatProgress):
    """Hears what a race does and says it."""

    def _first(self, outcome: Outcome, shortened: str) -> Iterator[Block]:
        length = f"; then {shortened}" if shortened else ""
        text = f"{outcome.steps:,} {outcome.unit} in {lasting(outcome.seconds)}{length}"
        yield Labelled("before", text)

    def _pair(self, seed: int, verdicts: list[VersionVerdict]) -> Iterator[Block]:
        for verdict in verdicts:
            if verdict.pairs and verdict.pairs[-1].seed == seed:
                pair = verdict.pairs[-1]
                change = f"{verdict.by.words} {pair.before.value:.4g} -> {pair.after.value:.4g}"
                text = f"{verdict.version.name}: {change}; {verdict.answer} so far"
                yield Labelled(f"pair {seed + 1}", text)
