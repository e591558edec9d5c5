"""A treatment as lines of the casebook: also what failed."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from traindx.experiment.casebook import Entry
from traindx.experiment.measure import finite_mean

if TYPE_CHECKING:
    from traindx.experiment.treat.results import Round, Treated, Trial


def entries_of(treated: Treated) -> list[Entry]:
    """One for each trial."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [_entry(treated, round_, trial, now) for round_ in treated.rounds for trial in round_.trials]


def _entry(treated: Treated, round_: Round, trial: Trial, now: str) -> Entry:
    won = trial is round_.winner
    verdict = round_.proof.verdict if won and round_.proof is not None else trial.verdict
    symptom = next((course.symptom for course in round_.plan if course.cause == trial.candidate.cause), "")
    entry = Entry(
        date=now,
        script=os.path.basename(treated.script),
        symptom=symptom,
        cause=trial.candidate.cause,
        remedy=trial.candidate.remedy,
        change=trial.candidate.name,
        verdict="not judged" if verdict is None else verdict.word,
        steps=trial.steps,
        said=trial.reason,
    )
    if verdict is None:
        return entry
    return replace(
        entry,
        metric=verdict.by.name,
        before=finite_mean(pair.before.value for pair in verdict.pairs),
        after=finite_mean(pair.after.value for pair in verdict.pairs),
        gain=verdict.gain,
        pairs=len(verdict.pairs),
        p=verdict.difference.p if len(verdict.pairs) > 1 else None,
        edited=won and round_.edited is not None and round_.proof is not None and round_.proof.reproduced,
    )
