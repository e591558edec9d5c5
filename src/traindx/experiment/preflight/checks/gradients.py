"""Gradients and the optimizer in the first steps."""

from __future__ import annotations

from traindx.core.facts import number, words
from traindx.evidence.case import Case
from traindx.experiment.preflight.check import CheckAnswer, passed, unknown
from traindx.experiment.preflight.observations import Flight


def gradients_reach(case: Case) -> CheckAnswer:
    reach = case.inside.fact("reach")
    parameters, outside = number(reach, "parameters"), number(reach, "outside")
    if parameters is None:
        return unknown("the graph of the first loss was not seen")
    elements = number(reach, "elements") or 0.0
    frozen = sum(
        int(count)
        for model in case.inside.models
        if isinstance(part := model.get("frozen"), dict) and isinstance(count := part.get("count"), int)
    )
    text = f"{parameters:,.0f} tensors of {elements:,.0f} numbers are behind the loss"
    if outside:
        text += f"; {outside:.0f} that the optimizer holds are not"
    if frozen:
        text += f"; {frozen} are frozen"
    return passed(f"{text}.", parameters=parameters, elements=elements, outside=outside or 0, frozen=frozen)


def optimizer_owns(case: Case) -> CheckAnswer:
    optimizers = case.inside.optimizers
    if not optimizers:
        return unknown("no optimizer of torch was seen")
    element_count = sum(number(optimizer, "elements") or 0.0 for optimizer in optimizers)
    names = ", ".join(dict.fromkeys(str(optimizer.get("class", "?")) for optimizer in optimizers))
    free = words(case.inside.fact("reach"), "free") if len(optimizers) == 1 else []
    text = f"{names} holds {element_count:,.0f} numbers"
    if len(optimizers) > 1:
        text = f"{len(optimizers)} optimizers ({names}) hold {element_count:,.0f} numbers"
    if free:
        text += f"; {len(free)} small or loaded parts of the loss are in none ({', '.join(free[:2])})"
    return passed(f"{text}.", optimizers=len(optimizers), held=element_count, free=len(free))


def gradients_fresh(flight: Flight, case: Case) -> CheckAnswer:
    if not flight.checked("gradients_not_zeroed", "gradients_cleared_before_step"):
        return unknown("the gradients before a step could not be sampled")
    steps = case.run.last_step or 0
    several = number(case.inside.fact("accumulation"), "backwards")
    looks = case.inside.layers("grad_norm")
    count = max((len(curve) for curve in looks.values()), default=0)
    return passed(
        f"nothing was left over or lost in {steps:,.0f} steps ({count} sampled).",
        looks=count,
        backwards=several or 0,
    )
