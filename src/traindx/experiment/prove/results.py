"""What pairs of runs of two versions came to, as plain data for the reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from traindx.core.nouns import Diagnosis, Run
from traindx.experiment.arms import Outcome
from traindx.experiment.measure import Pair, Yardstick, gains_of
from traindx.experiment.prove.sequential import USUAL, Answer, Decision, Rule
from traindx.experiment.prove.unlike import Likeness
from traindx.experiment.prove.versions import Version
from traindx.experiment.treat.before_after import BeforeAfter
from traindx.experiment.treat.results import Cost


class CannotProve(ValueError):
    """Nothing could be compared; the message is one line for the user."""


@dataclass(frozen=True)
class ProveRequest:
    """What the user asked for."""

    metric: str | None = None
    steps: int | None = None
    rule: Rule = USUAL


@dataclass(frozen=True)
class VersionVerdict:
    """What the pairs say about one version. `reason` is why numbers alone do not decide."""

    version: Version
    answer: Answer
    by: Yardstick
    pairs: tuple[Pair, ...]
    decision: Decision | None
    reason: str = ""
    likenesses: tuple[Likeness, ...] = ()
    symptom_gone: bool | None = None
    new_problems: tuple[str, ...] = ()
    scores: BeforeAfter = field(default_factory=BeforeAfter)
    outcomes: tuple[Outcome, ...] = ()
    whole_agrees: bool | None = None
    """Whether one pair of whole runs agrees, where the others were shortened."""

    @property
    def gain(self) -> float:
        gains, _ = gains_of(self.by, self.pairs)
        return sum(gains) / len(gains) if gains else -math.inf


@dataclass(frozen=True)
class Proved:
    """The answer: the best version first. `shortened` says how long runs were, where not to the end."""

    before: Version
    baseline: tuple[Outcome, ...]
    diagnosis: Diagnosis | None
    verdicts: tuple[VersionVerdict, ...]
    cost: Cost
    shortened: str = ""
    stopped: str = ""
    outside: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def best(self) -> VersionVerdict:
        return self.verdicts[0]


def compared_runs(proved: Proved) -> dict[str, list[Run]]:
    """The runs of the version before and of the best candidate, for a picture."""
    before = [outcome.run for outcome in proved.baseline if outcome.run is not None]
    after = [outcome.run for outcome in proved.best.outcomes if outcome.run is not None]
    return {"before": before, proved.best.version.name: after}
