"""About how long the whole run takes.

The turns of the script's own loops, those over a loader by its batches, times the pace that was measured,
validation and all. Known where the source or the settings tell them; early stopping makes it shorter.
"""

from __future__ import annotations

from traindx.core.nouns import Number
from traindx.core.number_text import lasting, lasting_each
from traindx.evidence.case import Case
from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.checks.throughput import middle
from traindx.experiment.preflight.observations import UNTOUCHED, Flight
from traindx.experiment.preflight.planned_length import steps_of_epoch, steps_planned

ITEM = Item(title="Time of the whole run", group="machine", order=3)


def look(flight: Flight) -> Answer:
    case, attempt = flight.untouched, flight.attempts.get(UNTOUCHED)
    timed = flight.undisturbed
    pace = _pace(timed) if timed is not None else None
    if case is None or attempt is None or pace is None:
        return unknown(flight.why_not(UNTOUCHED) or "no step was timed")
    numbers: dict[str, Number] = {"seconds_per_step": pace}
    if attempt.ended == "finished":
        text = f"the script ends by itself after {attempt.steps:,} steps and {lasting(attempt.seconds)}."
        return passed(text, **numbers, steps=attempt.steps, seconds=attempt.seconds)
    planned = steps_planned(case)
    if planned is not None:
        whole = planned[0] * pace
        text = f"at most about {lasting(whole)}: {planned[1]} at {lasting_each(pace)}."
        return passed(text, **numbers, seconds=whole, steps=planned[0])
    steps = steps_of_epoch(case)
    if steps:
        text = f"about {lasting(steps * pace)} an epoch of {steps:,.0f} steps; how many epochs is not known."
        return passed(text, **numbers, steps_per_epoch=steps)
    return unknown(f"{lasting_each(pace)} a step; how many steps there will be is not known", **numbers)


def _pace(case: Case) -> float | None:
    """Seconds from step to step with everything between: validation, logging, saving."""
    loss = case.curve("loss")
    times = loss.series.times if loss is not None else None
    if times is not None and times.size >= 10:
        first = min(5, times.size // 3)
        return float((times[-1] - times[first]) / (times.size - 1 - first))
    return middle(case, "step_s")
