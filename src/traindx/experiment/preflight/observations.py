"""What the arms of a preflight have shown, as the checks read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.facts import Fact
from traindx.core.nouns import ACTED_ON, SEVERITIES, Check, Diagnosis, Finding
from traindx.engine import conclude, examine
from traindx.evidence.case import Case
from traindx.evidence.examine import Examination
from traindx.experiment.runtime.change import Change

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# The arms.
UNTOUCHED = "as it is"
AGAIN = "as it is, again"
ONE_BATCH = "one batch for ever"
NO_INPUTS = "inputs zeroed"
OTHER_LABELS = "labels shuffled"
MEASURED = "first step measured"
# By name: the change of an arm, and whether the inside of the model is recorded.
ARMS: Mapping[str, tuple[str, bool]] = {
    UNTOUCHED: ("", True),
    MEASURED: ("measure_first_step", False),
    AGAIN: ("", False),
    ONE_BATCH: ("repeat_batch", True),
    NO_INPUTS: ("zero_inputs", False),
    OTHER_LABELS: ("shuffle_labels", False),
}
MEASURED_STEPS = 2


def changes_of(name: str) -> tuple[Change, ...]:
    """The changes of an arm."""
    change, _ = ARMS[name]
    return (Change(change).checked(),) if change else ()


@dataclass(frozen=True)
class Attempt:
    """One arm as it went. `refused` says why its change could not be made; `message` how the script ended."""

    name: str
    case: Case | None
    ended: str
    message: str = ""
    steps: int = 0
    seconds: float = 0.0
    refused: str = ""


@dataclass(frozen=True)
class Flight:
    """All arms of one training; `threads` is how many each of them had."""

    attempts: Mapping[str, Attempt]
    threads: int = 1
    wished: int = 0
    notes: tuple[str, ...] = field(default_factory=tuple)

    def why_not(self, name: str) -> str:
        """Why an arm cannot be used; empty when it can."""
        attempt = self.attempts.get(name)
        if attempt is None:
            return f"the arm '{name}' was not run"
        if attempt.refused:
            return attempt.refused
        if attempt.case is None or not attempt.steps:
            return attempt.message or f"the arm '{name}' never came to a step"
        return ""

    def case(self, name: str) -> Case | None:
        """The recording of an arm that can be used."""
        return None if self.why_not(name) else self.attempts[name].case

    @cached_property
    def untouched(self) -> Case | None:
        return self.case(UNTOUCHED)

    @cached_property
    def undisturbed(self) -> Case | None:
        """The same once more with as little recording as can be: what to take times from."""
        repeat = self.case(AGAIN)
        return repeat if repeat is not None and repeat.curve("step_s") is not None else self.untouched

    @cached_property
    def _examination(self) -> Examination | None:
        return examine(self.untouched) if self.untouched is not None else None

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """What the diagnosis says of the untouched arm."""
        if self.untouched is None or self._examination is None:
            return None
        return conclude(self.untouched, self._examination)

    @cached_property
    def findings(self) -> Mapping[str, Finding]:
        """What the detectors found in the untouched arm, by their names."""
        return (
            {finding.id: finding for finding in self._examination.findings}
            if self._examination is not None
            else {}
        )

    @cached_property
    def coverage(self) -> Mapping[str, Check]:
        return (
            {check.check: check for check in self._examination.checks}
            if self._examination is not None
            else {}
        )

    def trouble(self, *detectors: str) -> Finding | None:
        """The worst that these detectors found, where it is a defect worth acting on."""
        findings = [self.findings[name] for name in detectors if name in self.findings]
        bad = [
            finding for finding in findings if finding.symptom is not None and finding.severity in ACTED_ON
        ]
        return min(bad, key=lambda finding: SEVERITIES.index(finding.severity), default=None)

    def checked(self, *detectors: str) -> bool:
        """Whether any of these detectors had what it needs."""
        return any(name in self.coverage and self.coverage[name].status == "ran" for name in detectors)

    @cached_property
    def measured(self) -> Fact:
        """What was measured within the first step."""
        case = self.case(MEASURED)
        return case.inside.fact("measured") if case is not None else {}

    def measure(self, part: str) -> Fact:
        """One of the measurements; with `why` in it when it could not be made."""
        measurement = self.measured.get(part)
        if isinstance(measurement, Mapping):
            return measurement
        return {"why": self.why_not(MEASURED) or "the first step could not be measured"}

    def losses(self, name: str) -> FloatArray:
        """The training loss of an arm, step by step."""
        case = self.case(name)
        curve = case.curve("loss") if case is not None else None
        return curve.series.values if curve is not None else np.empty(0)
