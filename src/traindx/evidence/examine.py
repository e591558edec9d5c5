"""Run -> Findings: every detector looks at the run; what it could not look at is kept."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from traindx.core.nouns import AnswerEvidence, Check, Finding, Skipped
from traindx.core.settings import Threshold
from traindx.core.units import Detector, detectors
from traindx.evidence.case import Case
from traindx.evidence.inputs import first_answer

_NEEDED = {
    "loss": "a training loss",
    "val/loss": "a validation loss (val/loss)",
    "lr": "the learning rate, logged (lr)",
    "grad_norm": "the gradient norm, logged (grad_norm)",
    "accuracy": "the training accuracy (accuracy)",
    "val/accuracy": "the validation accuracy (val/accuracy)",
    "step_s": "the time per step (step_s)",
    "data_wait_s": "the time spent waiting for data (data_wait_s)",
    "loss_scale": "the loss scale (loss_scale)",
    "weight_norm": "the weight norm (weight_norm)",
    "script": "the training script (--script train.py, or traindx run)",
    "data": "data files that are read (traindx run train.py, or traindx check DATA)",
    "recording": "a recording (traindx run train.py, or traindx.watch)",
}
_NOT_IN_RECORDING = "what this training does not have, or what was not sampled of it"


@dataclass(frozen=True)
class Examination:
    """What was seen, looked for and not seen, and could not be looked at (`missing`: finding -> need).

    `answers` is what a person answered; `asked` are the questions that were put already.
    """

    findings: tuple[Finding, ...]
    unseen: frozenset[str]
    checks: tuple[Check, ...]
    missing: Mapping[str, str]
    answers: tuple[AnswerEvidence, ...] = ()
    asked: frozenset[str] = frozenset()

    @property
    def checked(self) -> frozenset[str]:
        """What was looked for, seen or not."""
        return self.unseen.union(finding.id for finding in self.findings)


def examine(case: Case, thresholds: Mapping[str, Mapping[str, Threshold]] | None = None) -> Examination:
    """Let every detector look; `thresholds` overrides their defaults by detector and name."""
    findings: list[Finding] = []
    checks: list[Check] = []
    unseen: set[str] = set()
    missing: dict[str, str] = {}
    units = [unit for unit in detectors() if case.inside.concerns(unit.area)]
    with np.errstate(all="ignore"):
        for unit in units:
            lacking = next((need for need in unit.needs if not case.has(need)), None)
            answer = (
                Skipped(needed(lacking, recorded=case.inside.recorded))
                if lacking is not None
                else _answer(unit, case, (thresholds or {}).get(unit.id, {}))
            )
            if isinstance(answer, Skipped):
                missing[unit.id] = lacking or ""
                checks.append(
                    Check(unit.id, "skipped" if answer.needs else "ran", needs=answer.needs or None)
                )
                continue
            if answer is None:
                unseen.add(unit.id)
            else:
                findings.append(answer)
            checks.append(Check(unit.id, "ran", seen=answer is not None))
    refuted = {unit.id for unit in units if unit.measured_by in unseen}
    unrefuted = [finding for finding in findings if finding.id not in refuted]
    return Examination(_unexplained(unrefuted, units), frozenset(unseen), tuple(checks), missing)


def needed(need: str, *, recorded: bool = False) -> str:
    """A detector's need in words: `lr|setting:lr` -> "the learning rate, logged (lr)"."""
    first = need.split("|")[0]
    if first == "val/*":
        return "a validation metric (val/...)"
    if first == "fact:data_files":
        return _NEEDED["data"]
    if first.startswith("fact:") or (first.endswith("/*") and first != "loss/*"):
        return _NOT_IN_RECORDING if recorded else _NEEDED["recording"]
    if first.startswith("setting:"):
        return f"the setting {first.removeprefix('setting:')} in the configuration"
    return _NEEDED.get(first, f"{first.rstrip('/*')}, logged")


def _answer(unit: Detector, case: Case, overrides: Mapping[str, Threshold]) -> Finding | Skipped | None:
    try:
        answer = first_answer(unit, case, overrides)
    except MemoryError:  # not the detector's fault: a diagnosis without it would look like health
        raise
    except Exception as error:
        if os.environ.get("TRAINDX_DEBUG"):
            raise
        return Skipped(f"a fixed detector: it failed with {type(error).__name__}: {error}")
    if not isinstance(answer, Finding):
        return answer
    thresholds = {**defaults(unit), **overrides}
    return replace(
        answer,
        id=unit.id,
        family=unit.family,
        counts_as=answer.counts_as or unit.counts_as,
        thresholds=thresholds,
    )


def defaults(unit: Detector) -> dict[str, Threshold]:
    """A detector's thresholds: its keyword-only parameters."""
    return dict(getattr(unit.detect, "__kwdefaults__", None) or {})


def _unexplained(findings: Sequence[Finding], units: Sequence[Detector]) -> tuple[Finding, ...]:
    """What other findings do not take back."""
    explains = {unit.id: set(unit.explains) for unit in units}
    explained: set[str] = set()
    for _ in findings:  # what is taken back takes nothing back itself
        retracted = {id for f in findings if f.id not in explained for id in explains[f.id]}
        if retracted == explained:
            break
        explained = retracted
    return tuple(finding for finding in findings if finding.id not in explained)
