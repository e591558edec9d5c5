"""How long a training is meant to be, from its loaders, settings and source."""

from __future__ import annotations

import math

from traindx.core.facts import number
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.loops import certain_iterations, inner, over_batches, turns
from traindx.source.execution import Loop
from traindx.source.values import Made
from traindx.source.values import number as plain


def steps_of_epoch(case: Case) -> float | None:
    """Optimizer steps of one pass over the training data."""
    batches = batches_of_epoch(case)
    if not batches:
        return case.epoch_length
    return batches / _batches_per_step(case)


def batches_of_epoch(case: Case) -> float | None:
    """The batches that the one loader of the training data gives; None where there is not one loader."""
    loaders = [loader for loader in case.inside.loaders if loader.get("role") == "training"]
    return number(loaders[0], "batches") if len(loaders) == 1 else None


def _batches_per_step(case: Case) -> float:
    accumulation = case.inside.fact("accumulation")
    steps, batches = number(accumulation, "steps"), number(accumulation, "batches")
    return float(max(1, round(batches / steps))) if steps and batches else 1.0


def steps_planned(case: Case) -> tuple[float, str] | None:
    """All steps the script would make, and how they come about; None where that is not known.

    The turns of the loops around the step, a loop over the training's loader by its batches.
    """
    planned = _by_settings(case) or _by_source(case)
    return planned if planned is not None and planned[0] > 0 else None


def _by_settings(case: Case) -> tuple[float, str] | None:
    epochs, epoch_steps = case.number("epochs"), steps_of_epoch(case)
    if epochs and epoch_steps:
        return epochs * epoch_steps, f"{epochs:,.0f} epochs of {epoch_steps:,.0f} steps"
    total = case.number("max_steps")
    return (total, f"{total:,.0f} steps") if total else None


def _by_source(case: Case) -> tuple[float, str] | None:
    if case.script is None:
        return None
    iterations = certain_iterations(case.script.training)
    if len(iterations) != 1:
        return None
    [iteration] = iterations
    total, words = 1.0, []
    for loop in iteration.step.event.loops:
        count = _turns(loop, case)
        if count is None:
            return None
        total *= count
        words.append(f"{count:,.0f}")
    per_step = _batches_per_step(case) if len(words) == 1 or not over_batches(iteration.loop) else 1.0
    return total / per_step, " x ".join(words) + " steps" if words else "one step"


def _turns(loop: Loop, case: Case) -> float | None:
    count = plain(turns(loop))
    over = inner(loop.over)
    if count is not None and isinstance(over, Made):
        first = plain(over.args[0]) if len(over.args) == 2 else 0.0
        return None if first is None else max(0.0, count - first)
    if isinstance(over, Made) and over.name == "range" and len(over.args) == 3:
        first, last, stride = (plain(argument) for argument in over.args)
        if first is None or last is None or not stride:
            return None
        return float(max(0, math.ceil((last - first) / stride)))
    return steps_of_epoch(case) if over_batches(loop) and case.inside.loaders else None
