"""Gradient clipping: put in before the step, its limit set or loosened."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import Maker, value_of
from traindx.experiment.edit.job import Job, at, statement_of
from traindx.experiment.edit.names import spelled
from traindx.experiment.edit.new_number import Wanted, plain
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.scopes import parameters_of, stepped
from traindx.experiment.edit.trainers import set_in_trainer
from traindx.experiment.edit.value_origin import change
from traindx.source.execution import Event
from traindx.source.training import Iteration
from traindx.source.values import Spot

_NOT_TOLD = "Nothing that clips the gradients can be told in the script."
_LIKE = r"clip|norm|max_value"
_KEYWORDS = {
    "clipnorm": "norm",
    "global_clipnorm": "norm",
    "gradient_clip_val": "norm",
    "max_grad_norm": "norm",
    "clipvalue": "value",
}


def clip_norm(job: Job, values: Mapping[str, Scalar]) -> str:
    return _clip(job, "clip_grad_norm_", "max_norm", value_of(values, "limit"))


def clip_value(job: Job, values: Mapping[str, Scalar]) -> str:
    return _clip(job, "clip_grad_value_", "clip_value", value_of(values, "limit"))


def _clips(job: Job) -> list[Event]:
    found = [e for e in job.training.trace.events if e.value.short.startswith("clip_grad")]
    return list({id(e.spot.node): e for e in found}.values())


def _clip(job: Job, function: str, name: str, limit: float) -> str:
    there = [e for e in _clips(job) if e.value.short == function]
    if there:
        wanted = Wanted(value=limit)
        return "; ".join(dict.fromkeys(change(job, e.value, name, 1, wanted, _LIKE) for e in there)) + "."
    if _clips(job):
        raise Uncertain(f"Use {function} with the limit {limit:g} here instead.", at(_clips(job)[0].spot))
    told = _setting(job, Wanted(value=limit), "norm" if "norm" in function else "value")
    told = told or (set_in_trainer(job, "clip_norm", limit) if "norm" in function else "")
    if told:
        return told
    if job.training.managed:
        raise Uncertain(f"Give the trainer `gradient_clip_val={limit:g}`.")
    lines = [_insert(job, one, function, limit) for one in _steps(job)]
    return "; ".join(lines) + "."


def _setting(job: Job, wanted: Wanted, kind: str) -> str:
    """A limit that is given to a trainer or an optimizer."""
    for event in job.training.trace.events:
        for name in event.value.keywords:
            if _KEYWORDS.get(name) == kind:
                return change(job, event.value, name, -1, wanted, _LIKE) + "."
    return ""


def _steps(job: Job) -> list[Iteration]:
    found = job.iterations()
    if not found:
        raise Uncertain("No training loop can be followed in the script: clip before the optimizer's step.")
    for one in found:
        node = one.step.event.spot.node
        if one.step.scaler is None and isinstance(node, ast.Call) and (node.args or node.keywords):
            raise Uncertain("Clip inside the closure, after its backward pass.", at(one.step.event.spot))
        if one.step.event.handed:
            raise Uncertain("Clip before this step.", at(one.step.event.spot))
    return found


def _insert(job: Job, iteration: Iteration, function: str, limit: float) -> str:
    spot = iteration.step.event.spot
    parameters = parameters_of(job, iteration)
    name = spelled(job.draft, spot.source, f"torch.nn.utils.{function}")
    lines = [f"{name}({parameters}, {plain(limit)})"]
    if iteration.step.scaler is not None and not _unscaled(job, iteration):
        scaler = _scaler(spot)
        lines.insert(0, f"{scaler}.unscale_({job.draft.text(spot.source, stepped(iteration))})")
    job.draft.before(spot.source, statement_of(spot), *lines)
    return f"{' and '.join(lines)} before line {spot.line}"


def _unscaled(job: Job, iteration: Iteration) -> bool:
    return any(iteration.loop in e.loops for e in job.training.trace.methods("unscale_"))


def _scaler(spot: Spot) -> str:
    node = spot.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return ast.unparse(node.func.value)
    raise Uncertain("Unscale the gradients, then clip them, before this step.", at(spot))


def loosen_clipping(job: Job, values: Mapping[str, Scalar]) -> str:
    """The limit times `factor`; with `off`, or no factor, no clipping at all."""
    factor = values.get("factor")
    if values.get("off") is True or not isinstance(factor, int | float) or isinstance(factor, bool):
        return _taken_out(job)
    wanted = Wanted(factor=float(factor))
    clips = _clips(job)
    told = [_loosened(job, e, wanted) + "." for e in clips]
    told = told or [_setting(job, wanted, "norm") or _setting(job, wanted, "value")]
    if not any(told):
        raise Uncertain(_NOT_TOLD)
    return "; ".join(dict.fromkeys(one.removesuffix(".") for one in told)) + "."


def _taken_out(job: Job) -> str:
    """Clipping that is a statement of its own is removed; where its answer is used, words."""
    clips = _clips(job)
    if not clips:
        given = [(e, n) for e in job.training.trace.events for n in e.value.keywords if n in _KEYWORDS]
        if given:
            raise Uncertain(f"Take {given[0][1]} out of line {given[0][0].spot.line}.", at(given[0][0].spot))
        raise Uncertain(_NOT_TOLD)
    for event in clips:
        around = event.spot.source.parents.get(event.spot.node)
        if not isinstance(around, ast.Expr):
            raise Uncertain(
                f"Set the limit of line {event.spot.line} so high that nothing is clipped.", at(event.spot)
            )
        job.draft.remove(event.spot.source, around)
    return "; ".join(f"the clipping in line {e.spot.line} is taken out" for e in clips) + "."


def _loosened(job: Job, event: Event, wanted: Wanted) -> str:
    name = "max_norm" if "norm" in event.value.short else "clip_value"
    return change(job, event.value, name, 1, wanted, _LIKE)


MAKERS: dict[str, Maker] = {
    "clip_norm": clip_norm,
    "clip_value": clip_value,
    "loosen_clipping": loosen_clipping,
}
