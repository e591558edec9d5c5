"""Gradient clipping: added before the step, its limit set or raised."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import value_of
from traindx.experiment.edit.job import Job, once
from traindx.experiment.edit.keras import optimizers as keras_optimizers
from traindx.experiment.edit.keras import set_option, uses_keras
from traindx.experiment.edit.new_number import NewNumber, plain
from traindx.experiment.edit.nodes import receiver
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.scopes import parameters_of, stepped
from traindx.experiment.edit.trainers import set_in_trainer, word_of, write_in_trainer
from traindx.experiment.edit.value_origin import change
from traindx.source.execution import CallEvent
from traindx.source.trainer_settings import trainer_setting
from traindx.source.training import Iteration
from traindx.source.values import Made

_NOT_FOUND = "Nothing that clips the gradients was found in the script."
_LIKE = r"clip|norm|max_value"
_KEYWORDS = {
    "clipnorm": "norm",
    "global_clipnorm": "norm",
    "gradient_clip_val": "norm",
    "max_grad_norm": "norm",
    "clipvalue": "value",
}


def clip_norm(job: Job, values: Mapping[str, Scalar]) -> str:
    return _clip(job, "clip_grad_norm_", value_of(values, "limit"))


def clip_value(job: Job, values: Mapping[str, Scalar]) -> str:
    return _clip(job, "clip_grad_value_", value_of(values, "limit"))


def _clips(job: Job) -> list[CallEvent]:
    return once(e for e in job.training.trace.events if e.value.short.startswith("clip_grad"))


def _clip(job: Job, function: str, limit: float) -> str:
    same_calls = [e for e in _clips(job) if e.value.short == function]
    if same_calls:
        return sentence(_limited_by(job, e, NewNumber(value=limit)) for e in same_calls)
    if _clips(job):
        raise Uncertain(f"Use {function} with the limit {limit:g} here instead.", _clips(job)[0].spot)
    by = "norm" if "norm" in function else "value"
    description = _in_trainer(job, by, limit) or _setting(job, NewNumber(value=limit), by)
    if description:
        return description
    if uses_keras(job):
        return _in_keras(job, "global_clipnorm" if "norm" in function else "clipvalue", limit)
    return sentence([_insert(job, iteration, function, limit) for iteration in _steps(job)])


def _in_trainer(job: Job, by: str, limit: float) -> str:
    """The limit that a trainer takes, and by what it clips; empty without a trainer that clips."""
    algorithm = trainer_setting(job.training.trace, "clip_by")
    if algorithm is not None:
        limited = _limited(job, limit, changed=word_of(algorithm) != by)
        if word_of(algorithm) != by:
            limited.append(write_in_trainer(job, algorithm, f'"{by}"'))
        return sentence(limited)
    setting = trainer_setting(job.training.trace, "clip")
    if setting is not None and by == "value":
        raise Uncertain("The Trainer of transformers clips by norm only: lower max_grad_norm instead.")
    return set_in_trainer(job, "clip", NewNumber(value=limit), _LIKE)


def _limited(job: Job, limit: float, *, changed: bool) -> list[str]:
    try:
        return [set_in_trainer(job, "clip", NewNumber(value=limit), _LIKE).rstrip(".")]
    except Uncertain:
        if not changed:
            raise
        return []  # the limit stays as it is


def _in_keras(job: Job, name: str, limit: float) -> str:
    """An argument of Keras' optimizers, which take only one kind of clipping."""
    for optimizer in keras_optimizers(job):
        present = [keyword for keyword in _KEYWORDS if keyword in optimizer.call.keywords]
        if present:
            words = f"Use {name}={limit:g} instead of {present[0]} here: Keras takes one of them."
            raise Uncertain(words, optimizer.call.spot)
    return set_option(job, name, NewNumber(value=limit), _LIKE)


def _setting(job: Job, new_number: NewNumber, kind: str) -> str:
    """A limit that a trainer or an optimizer takes as a keyword."""
    for event, name in _limits(job):
        if _KEYWORDS[name] == kind:
            return change(job, event.value, name, -1, new_number, _LIKE) + "."
    return ""


def _limits(job: Job) -> list[tuple[CallEvent, str]]:
    """Calls that are given a limit by a keyword, and the keyword."""
    events = job.training.trace.events
    return [(event, name) for event in events for name in event.value.keywords if name in _KEYWORDS]


def _steps(job: Job) -> list[Iteration]:
    iterations = job.iterations()
    if not iterations:
        raise Uncertain("No training loop was found in the script: clip before the optimizer's step.")
    for iteration in iterations:
        node = iteration.step.event.spot.node
        if iteration.step.scaler is None and isinstance(node, ast.Call) and (node.args or node.keywords):
            raise Uncertain("Clip inside the closure, after its backward pass.", iteration.step.event.spot)
        if iteration.step.event.handed:
            raise Uncertain("Clip before this step.", iteration.step.event.spot)
    return iterations


def _insert(job: Job, iteration: Iteration, function: str, limit: float) -> str:
    spot = iteration.step.event.spot
    parameters = parameters_of(job, iteration)
    accelerator = _accelerator(iteration)
    if accelerator is None:
        name = job.spelled(spot.node, f"torch.nn.utils.{function}")
        lines = [f"{name}({parameters}, {plain(limit)})"]
    else:  # its own method unscales, and knows when gradients are complete
        text = job.draft.text(accelerator)
        guard = f"if {text}.sync_gradients: " if job.training.trace.methods("accumulate") else ""
        lines = [f"{guard}{text}.{function}({parameters}, {plain(limit)})"]
    unscaled = any(iteration.loop in e.loops for e in job.training.trace.methods("unscale_"))
    if iteration.step.scaler is not None and not unscaled:
        scaler = receiver(spot.node)
        if scaler is None:
            raise Uncertain("Unscale the gradients, then clip them, before this step.", spot)
        optimizer = job.draft.text(stepped(iteration))
        lines.insert(0, f"{ast.unparse(scaler)}.unscale_({optimizer})")
    job.draft.before(job.statement_of(spot.node), *lines)
    return f"{' and '.join(lines)} before line {spot.line}"


def _accelerator(iteration: Iteration) -> ast.expr | None:
    """Accelerate's object, where it runs the backward pass."""
    backward = iteration.backwards[0]
    runner = backward.value.receiver
    is_accelerator = isinstance(runner, Made) and runner.name.startswith("accelerate.")
    return receiver(backward.spot.node) if is_accelerator else None


def loosen_clipping(job: Job, values: Mapping[str, Scalar]) -> str:
    """The limit times `factor`; with `off`, or no factor, no clipping at all."""
    factor = values.get("factor")
    if values.get("off") is True or not isinstance(factor, int | float) or isinstance(factor, bool):
        return _removed(job)
    new_number = NewNumber(factor=float(factor))
    clips = _clips(job)
    if clips:
        return sentence([_limited_by(job, event, new_number) for event in clips])
    description = _setting(job, new_number, "norm") or _setting(job, new_number, "value")
    setting = trainer_setting(job.training.trace, "clip")
    if not description and setting is not None and setting.default is not None:
        description = set_in_trainer(job, "clip", new_number, _LIKE)
    if not description:
        raise Uncertain(_NOT_FOUND)
    return description


def _removed(job: Job) -> str:
    """Clipping that is a statement of its own is removed; where its result is used, an instruction."""
    clips = _clips(job)
    setting = trainer_setting(job.training.trace, "clip")
    if not clips and setting is not None and (setting.value is not None or setting.default is not None):
        return write_in_trainer(job, setting, "None" if setting.default is None else "0.0") + "."
    if not clips:
        for event, name in _limits(job):
            raise Uncertain(f"Remove {name} from line {event.spot.line}.", event.spot)
        raise Uncertain(_NOT_FOUND)
    for event in clips:
        around = job.parent(event.spot.node)
        if not isinstance(around, ast.Expr):
            raise Uncertain(
                f"Set the limit of line {event.spot.line} so high that nothing is clipped.", event.spot
            )
        job.draft.remove(around)
    return sentence(f"the clipping in line {e.spot.line} is removed" for e in clips)


def _limited_by(job: Job, event: CallEvent, new_number: NewNumber) -> str:
    """Another limit for a call that clips."""
    name = "max_norm" if "norm" in event.value.short else "clip_value"
    return change(job, event.value, name, 1, new_number, _LIKE)
