"""How many backward calls and batches make up one step, and how many gradients are discarded unused."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching


class AccumulationCounts:
    """Counted step by step, recorded as one fact."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.fetched = 0
        self.thrown = 0
        # What the one loss function gave, as a share of what backward was called on; None: not known.
        self.share: float | None = None
        self.restart()

    def restart(self) -> None:
        """Another training begins."""
        self._steps = self._several = self._backwards = self._batches = self._thrown = self._wasteful = 0

    def step(self, backwards: int) -> None:
        """A step ended."""
        self._steps += 1
        self._several += backwards > 1
        self._backwards += backwards
        self._batches += self.fetched
        self._thrown += self.thrown
        self._wasteful += bool(self.thrown)
        self.fetched = self.thrown = 0
        if self._steps & (self._steps - 1) == 0 and self._steps >= 4:
            self.record()

    def record(self) -> None:
        if not self._several and not self._thrown:
            return
        counts: dict[str, object] = {
            "steps": self._steps,
            "steps_with_several": self._several,
            "backwards": self._backwards,
            "batches": self._batches,
            "thrown": self._thrown,
            "steps_with_thrown": self._wasteful,
        }
        if self.share is not None:
            counts["share"] = self.share
        self.watching.recorder.fact("accumulation", counts)
