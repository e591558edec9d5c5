"""The arms of a preflight, run on a script that stays as it is."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from traindx.engine import case_of
from traindx.evidence.case import Case
from traindx.experiment.arms import Arm, Outcome, Progress, Workshop
from traindx.experiment.edited_arms import CANNOT, EditedArms, unreachable
from traindx.experiment.preflight.observations import (
    ARMS,
    MEASURED,
    MEASURED_STEPS,
    ONE_BATCH,
    UNTOUCHED,
    Attempt,
    Flight,
    changes_of,
)
from traindx.experiment.preflight.result import Checklist, check
from traindx.experiment.runtime.change import Change
from traindx.source import Script

STEPS = 300
# The share of the time that is for the first two arms.
_FIRST = 0.4
_LEAST_SECONDS = 5.0


class Unflown(Exception):
    """The script could not be run at all; the message is one line for the user."""


def fly(
    shop: Workshop,
    *,
    script: Script | None,
    steps: int = STEPS,
    time_budget: float = 300.0,
    threads: int = 1,
    progress: Progress | None = None,
) -> Checklist:
    """Run the arms, the ones that others depend on first, and check."""
    began = time.monotonic()
    edits = EditedArms(script, shop.program.args) if script is not None and unreachable(script) else None
    first = [_arm(UNTOUCHED, steps), *([] if edits else [_arm(MEASURED, MEASURED_STEPS)])]
    attempts = _run(shop, first, script, _FIRST * time_budget, progress)
    untouched = attempts[UNTOUCHED]
    if not untouched.steps:
        hint = " (--time-budget gives more)" if untouched.ended == "timed out" else ""
        raise Unflown((untouched.message or "the script made no training step.") + hint)
    arms = _further(untouched, steps)
    if edits is not None:
        edited_arms = [edits.arm(arm) for arm in [*arms, _arm(MEASURED, MEASURED_STEPS)]]
        missing = [arm.name for arm in edited_arms if arm.changes]
        attempts |= {name: Attempt(name, None, "not run", refused=CANNOT) for name in missing}
        arms = [arm for arm in edited_arms if not arm.changes]
    seconds_left = max(_LEAST_SECONDS, time_budget - (time.monotonic() - began))
    rounds = math.ceil(len(arms) / max(1, min(shop.jobs, len(arms))))
    attempts |= _run(shop, arms, script, seconds_left / rounds, progress)
    flight = Flight(attempts, threads=threads, wished=steps, notes=tuple(_notes(attempts)))
    return check(flight, time.monotonic() - began)


def _further(untouched: Attempt, steps: int) -> list[Arm]:
    """The arms that are compared with the untouched one, none longer than it was."""
    no_dropout = (Change("set_dropout", {"value": 0.0}).checked(),) if _drops(untouched.case) else ()
    length = min(steps, untouched.steps)
    rest = [_arm(name, length) for name in ARMS if name not in (UNTOUCHED, MEASURED, ONE_BATCH)]
    return [_arm(ONE_BATCH, steps, no_dropout), *rest]


def _arm(name: str, steps: int, extra_changes: tuple[Change, ...] = ()) -> Arm:
    return Arm(name, (*changes_of(name), *extra_changes), steps=steps, internals=ARMS[name][1])


def _drops(case: Case | None) -> bool:
    rates = [model.get("dropout") for model in case.inside.models] if case is not None else []
    return any(
        isinstance(rate, list) and any(isinstance(p, int | float) and p > 0 for p in rate) for rate in rates
    )


def _run(
    shop: Workshop, arms: Sequence[Arm], script: Script | None, timeout: float, progress: Progress | None
) -> dict[str, Attempt]:
    outcomes = shop.run(arms, timeout=timeout, progress=progress)
    attempts = {outcome.arm.name: attempt_of(outcome, script) for outcome in outcomes}
    return {arm.name: attempts[arm.name] for arm in arms if arm.name in attempts}


def attempt_of(outcome: Outcome, script: Script | None) -> Attempt:
    """An arm's outcome as the checks read it."""
    case = None
    if outcome.run is not None:
        case = Case(outcome.run, script) if script is not None else case_of(outcome.run)
    main = outcome.arm.changes[0].id if outcome.arm.changes else ""
    return Attempt(
        outcome.arm.name,
        case,
        outcome.ended,
        outcome.message,
        outcome.steps,
        outcome.seconds,
        outcome.failed.get(main, ""),
    )


def _notes(attempts: dict[str, Attempt]) -> list[str]:
    """What the reader of the checklist should know of the arms."""
    cut = [attempt.name for attempt in attempts.values() if attempt.ended == "timed out"]
    missing = [attempt.name for attempt in attempts.values() if attempt.refused == CANNOT]
    notes = [f"Not run, as {CANNOT} and no edit does the same: {', '.join(missing)}."] if missing else []
    if not cut:
        return notes
    return [*notes, f"Ended by the time budget: {', '.join(cut)}. --time-budget gives more."]
