"""What a command found out about a script, kept for the others (`core.pool`)."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from traindx.core.pool import PooledExperiment, PoolEntry, add, new_entry

if TYPE_CHECKING:
    from traindx.experiment.confirm.confirm import Confirmed
    from traindx.experiment.preflight.result import Checklist
    from traindx.experiment.treat.results import Treated
    from traindx.observe.program import Program


def keep_preflight(program: Program, checklist: Checklist) -> None:
    """What the checks found about script and data."""
    entry = _entry(program, "preflight")
    add(os.getcwd(), replace(entry, findings=checklist.lasting))


def keep_treatment(treated: Treated, only: str | None) -> None:
    """The trials of the first round, which are on the script as it is; `only` is a remedy that was named."""
    entry = new_entry(treated.script, treated.args, f"try {only}" if only else "treat")
    add(os.getcwd(), replace(entry, trials=treated.rounds[0].records if treated.rounds else ()))


def keep_confirmation(program: Program, folder: str, confirmed: Confirmed) -> None:
    """What the experiments showed, next to the recordings of the script if there are any."""
    showed = [observation for answer in confirmed.suspicions for observation in answer.shown]
    showed += [observation for trial in confirmed.tried for observation in trial.reading.shown]
    latest = {observation.experiment.id: observation for observation in showed}
    experiments = tuple(
        PooledExperiment(
            id,
            observation.text,
            {cause: bits for cause in observation.experiment.causes if (bits := observation.bits(cause))},
        )
        for id, observation in latest.items()
    )
    add(folder, replace(_entry(program, "confirm"), experiments=experiments), create=False)


def _entry(program: Program, command: str) -> PoolEntry:
    return new_entry(program.path, program.args, command)
