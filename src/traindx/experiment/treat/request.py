"""What a treatment is asked for, and the current script between its rounds."""

from __future__ import annotations

from dataclasses import dataclass, field

from traindx.core.nouns import Diagnosis
from traindx.experiment.arms import Arm, Outcome
from traindx.source.script import Script

_ROUNDS_MOST = 3


@dataclass(frozen=True)
class TreatRequest:
    """What the user asked for; None leaves it to the treatment."""

    steps: int | None = None
    seeds: int | None = None
    metric: str | None = None
    only: str | None = None
    dry_run: bool = False
    rounds: int = _ROUNDS_MOST
    trial_steps: int | None = None
    """So many steps for trials in all, then the best so far is kept."""
    healthy_too: bool = False
    """Try even where nothing is wrong: a single remedy that somebody asked for."""


@dataclass
class ScriptState:
    """The current script: changed by the rounds so far, with its run."""

    script: Script | None
    args: tuple[str, ...]
    baseline: Outcome
    diagnosis: Diagnosis
    sources: dict[str, str] = field(default_factory=dict)

    def arm(self, name: str, seed: int = 0, steps: int | None = None) -> Arm:
        """A run of it."""
        return Arm(name, (), seed, steps, sources=self.sources, args=self.args)
