"""What a proof says while it runs: one line for each pair, and one that moves on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from traindx.cli._progress_line import Moving
from traindx.report.document import Labelled
from traindx.report.text import count, lasting, visible
from traindx.report.to_terminal import lines

if TYPE_CHECKING:
    from traindx.experiment.arms import Arm, Outcome
    from traindx.experiment.prove.results import VersionVerdict


class ProveProgress:
    """Hears what a race does and says it; with `quiet` only the moving line is left."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._moving = Moving()
        self._done = 0
        self._doing = ""

    def __call__(self, kind: str, facts: Mapping[str, Any]) -> None:
        hears: Mapping[str, Callable[..., None]] = {
            "progress": self._progress,
            "arm": self._arm,
            "first": self._first,
            "pair": self._pair,
        }
        if kind in hears:
            hears[kind](**facts)
        self._draw()

    def doing(self, text: str) -> None:
        """What takes a while now."""
        self._doing = text
        self._draw()

    def close(self) -> None:
        self._moving.close()

    def _draw(self) -> None:
        done = f"{count(self._done, 'run')} done, " if self._done else ""
        self._moving.draw(f"{done}{self._doing}")

    def _say(self, label: str, text: str) -> None:
        if not self._quiet:
            self._moving.say(lines([Labelled(label, text)], self._moving.screen))

    def _progress(self, arm: Arm, steps: int, seconds: float) -> None:
        of = f" of {arm.steps:,}" if arm.steps else ""
        self._doing = f"{visible(arm.name, 60)}: {steps:,}{of} steps, {lasting(seconds)}"

    def _arm(self, outcome: Outcome) -> None:
        del outcome
        self._done += 1

    def _first(self, outcome: Outcome, steps: int | None, shortened: str) -> None:
        del steps
        length = f"; then {shortened}" if shortened else ""
        self._say("before", f"{outcome.steps:,} {outcome.unit} in {lasting(outcome.seconds)}{length}")

    def _pair(self, seed: int, verdicts: list[VersionVerdict]) -> None:
        for verdict in verdicts:
            if verdict.pairs and verdict.pairs[-1].seed == seed:
                values = [
                    f"{level.value:.4g}" for level in (verdict.pairs[-1].before, verdict.pairs[-1].after)
                ]
                change = f"{verdict.by.words} {' -> '.join(values)}"
                text = f"{verdict.version.name}: {change}; {verdict.answer} so far"
                self._say(f"pair {seed + 1}", text)
