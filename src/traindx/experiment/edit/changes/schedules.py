"""The schedule of the learning rate: a warm-up before it, another one, or none."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import Maker, value_of
from traindx.experiment.edit.job import Job, at, call_of, function_of, statement_of
from traindx.experiment.edit.names import fresh, spelled
from traindx.experiment.edit.new_number import Wanted, plain
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.scopes import bound_name
from traindx.experiment.edit.trainers import set_in_trainer
from traindx.experiment.edit.value_origin import change, uses
from traindx.source.roles import is_scheduler
from traindx.source.training import Iteration
from traindx.source.values import Made, Value, number, options

_WARM = re.compile(r"warm_?up", re.IGNORECASE)
_COUNTS = re.compile(r"warm_?up(_?(steps?|iters?|iterations?|updates?|batches))?$", re.IGNORECASE)
_KINDS = {"cosine": "CosineAnnealingLR", "linear": "LinearLR"}
# Schedules that multiply the rate as it stands, so that a warm-up beside them keeps its effect.
_BY_FACTOR = {
    "StepLR",
    "MultiStepLR",
    "ExponentialLR",
    "CosineAnnealingLR",
    "ReduceLROnPlateau",
    "PolynomialLR",
}


def warm_up(job: Job, values: Mapping[str, Scalar]) -> str:
    steps = max(1, int(value_of(values, "steps")))
    told = _set_length(job, steps) or set_in_trainer(job, "warm_up", steps)
    if told:
        return told
    if job.training.managed:
        raise Uncertain(f"Give the trainer `warmup_steps={steps}`.")
    made = [one for one in job.optimizers() if one.name.startswith("torch.optim.")]
    if not made:
        raise Uncertain("No optimizer of PyTorch can be told in the script.")
    for schedule in _schedules(job):
        if schedule.short not in _BY_FACTOR:
            raise Uncertain(
                f"Put {steps} steps of linear warm-up before the schedule of this line.", at(schedule.spot)
            )
    for bound in job.training.trace.bindings:
        if bound.name == "lr" and bound.owner is not None and bound.loops:
            raise Uncertain(f"Let the rate set here rise over the first {steps} steps.", at(bound.spot))
    return "; ".join(dict.fromkeys(_beside(job, one, steps) for one in made)) + "."


def _set_length(job: Job, steps: int) -> str:
    """A warm-up that the script knows already: its length is set."""
    for event in job.training.trace.events:
        for name in event.value.keywords:
            if _COUNTS.search(name) and number(event.value.keywords[name]) is not None:
                return change(job, event.value, name, -1, Wanted(value=steps), r"warm_?up|total|steps") + "."
    found = {}
    for value in _named(job):
        if value.spot is not None and isinstance(value.spot.node, ast.Constant):
            found[id(value.spot.node)] = value
    if len(found) != 1:
        return ""
    spot = next(iter(found.values())).spot
    assert spot is not None
    if not any(uses(job, spot)) and not _read(job, spot.node):
        return ""
    old = job.draft.text(spot.source, spot.node)
    if not old.isdigit():
        return ""
    if old == str(steps):
        raise Uncertain(f"The warm-up takes {steps} steps already.", at(spot))
    job.draft.replace(spot.source, spot.node, str(steps))
    return f"warm-up {old} -> {steps} steps in line {spot.line}."


def _named(job: Job) -> list[Value]:
    """Numbers that go by the name of a warm-up counted in steps: constants, settings, defaults."""
    found = [b.value for b in job.training.trace.bindings if _COUNTS.fullmatch(b.name)]
    for source in job.script.sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and _COUNTS.fullmatch(str(key.value)):
                        found += _constants(job, value)
    return [one for one in found if number(one) is not None]


def _constants(job: Job, node: ast.expr) -> list[Value]:
    from traindx.source.values import Const, Spot

    if not isinstance(node, ast.Constant) or not isinstance(node.value, int):
        return []
    source = next(s for s in job.script.sources if node in s.parents)
    return [Const(Spot(source, node), node.value)]


def _read(job: Job, node: ast.AST) -> bool:
    """Whether the script looks the number up again by its name."""
    text = "\n".join(source.text for source in job.script.sources)
    del node
    return len(_WARM.findall(text)) > 1


def _schedules(job: Job) -> list[Made]:
    found = [e.value for e in job.training.trace.events if e.value.kind == "call" and is_scheduler(e.value)]
    return [one for one in found if one.spot is not None]


def _beside(job: Job, made: Made, steps: int) -> str:
    source, call = call_of(made)
    name = bound_name(source, call)
    if name is None:
        raise Uncertain(f"Let the rate rise over the first {steps} steps after this line.", at(made.spot))
    optimizer = job.draft.text(source, name)
    linear = spelled(job.draft, source, "torch.optim.lr_scheduler.LinearLR")
    warmup = fresh(job.draft, source, "warmup")
    first = f"{warmup} = {linear}({optimizer}, start_factor={plain(1 / max(steps, 2))}, total_iters={steps})"
    assignment = statement_of(made.spot) if made.spot is not None else None
    assert assignment is not None
    near = [
        one
        for one in _steps_of(job, made)
        if function_of(source, one.step.event.spot.node) is function_of(source, call)
    ]
    if near and len(near) == len(_steps_of(job, made)) and isinstance(name, ast.Name):
        job.draft.after(source, assignment, first)
        for one in near:
            spot = one.step.event.spot
            job.draft.after(spot.source, statement_of(spot), f"{warmup}.step()")
    else:
        hook = f"{optimizer}.register_step_post_hook(lambda *_: {warmup}.step())"
        job.draft.after(source, assignment, first, hook)
    return f"a linear warm-up of {steps} steps after line {call.lineno}"


def _steps_of(job: Job, made: Made) -> list[Iteration]:
    return [one for one in job.iterations() if any(o is made for o in one.step.optimizers)]


def hold_lr(job: Job, values: Mapping[str, Scalar]) -> str:
    """The first rate for ever: the schedule is one that changes nothing."""
    del values
    told = []
    for made in _schedules(job):
        if any(made in options(v) for other in _schedules(job) for v in other.args if other is not made):
            continue
        source, call = call_of(made)
        if made.short == "ReduceLROnPlateau":
            job.draft.keyword(source, call, "patience", "10**9")
        elif call.args or any(k.arg == "optimizer" for k in call.keywords):
            optimizer = job.draft.text(source, _optimizer(call))
            name = spelled(job.draft, source, "torch.optim.lr_scheduler.ConstantLR")
            job.draft.replace(source, call, f"{name}({optimizer}, factor=1.0)")
        else:
            raise Uncertain("Leave the schedule of this line out.", at(made.spot))
        told.append(f"no schedule in line {call.lineno}")
    if not told:
        raise Uncertain("No schedule of the learning rate can be told in the script.")
    return "; ".join(dict.fromkeys(told)) + "."


def _optimizer(call: ast.Call) -> ast.expr:
    return next((k.value for k in call.keywords if k.arg == "optimizer"), None) or call.args[0]


def replace_schedule(job: Job, values: Mapping[str, Scalar]) -> str:
    """One smooth decay over the whole run in the place of the schedule that is there, or beside none."""
    kind = str(values.get("kind", "cosine"))
    if kind == "constant":
        return hold_lr(job, {})
    steps = int(value_of(values, "steps"))
    made = _schedules(job)
    if len(made) > 1:
        raise Uncertain(f"Replace the schedules by one {kind} decay over {steps} steps.", at(made[0].spot))
    if not made:
        return _new_schedule(job, kind, steps)
    source, call = call_of(made[0])
    if made[0].short == "ReduceLROnPlateau" or not call.args:
        raise Uncertain(f"Use a {kind} decay over {steps} steps here.", at(made[0].spot))
    length = _length(job, made[0], steps)
    lasts = number(made[0].argument(1 if kind == "cosine" else 3, "T_max", "total_iters"))
    if made[0].short == _KINDS.get(kind) and lasts == float(length):
        raise Uncertain(f"The schedule of this line decays over {length} steps already.", at(made[0].spot))
    optimizer = job.draft.text(source, call.args[0])
    job.draft.replace(source, call, _decay(job, source, kind, optimizer, length))
    return f"{kind} decay over {length} steps of the schedule in line {call.lineno}."


def _decay(job: Job, source: object, kind: str, optimizer: str, length: str) -> str:
    from traindx.source.script import Source

    assert isinstance(source, Source)
    front = "torch.optim.lr_scheduler."
    if kind == "linear":
        name = spelled(job.draft, source, front + "LinearLR")
        return f"{name}({optimizer}, start_factor=1.0, end_factor=0.01, total_iters={length})"
    return f"{spelled(job.draft, source, front + 'CosineAnnealingLR')}({optimizer}, T_max={length})"


def _length(job: Job, schedule: Made, steps: int) -> str:
    """How often the schedule will be stepped: per batch as the optimizer, else once per epoch."""
    events = [
        e for e in job.training.scheduler_steps if any(o is schedule for o in options(e.value.receiver))
    ]
    loop = job.iteration().loop
    if not events:
        raise Uncertain(
            "The schedule of this line is never stepped: step it once per batch.", at(schedule.spot)
        )
    if all(loop in e.loops for e in events):
        return str(steps)
    over = events[0].loops[-1].over if events[0].loops else None
    epochs = (
        over.args[-1] if isinstance(over, Made) and over.name == "range" and len(over.args) == 1 else None
    )
    count = number(epochs)
    if count is None:
        raise Uncertain("Let the schedule of this line last for all epochs.", at(schedule.spot))
    return str(int(count))


def _new_schedule(job: Job, kind: str, steps: int) -> str:
    made = [one for one in job.optimizers() if one.name.startswith("torch.optim.")]
    if len(made) != 1 or any(
        b.name == "lr" and b.owner is not None and b.loops for b in job.training.trace.bindings
    ):
        raise Uncertain(f"Let the learning rate fall over {steps} steps ({kind}).")
    source, call = call_of(made[0])
    name = bound_name(source, call)
    if name is None:
        raise Uncertain(f"Let the learning rate of this line fall over {steps} steps.", at(made[0].spot))
    optimizer, schedule = job.draft.text(source, name), fresh(job.draft, source, "schedule")
    lines: tuple[str, ...] = (
        f"{schedule} = {_decay(job, source, kind, optimizer, str(steps))}",
        f"{optimizer}.register_step_post_hook(lambda *_: {schedule}.step())",
    )
    near = _steps_of(job, made[0])
    inside = near and all(
        function_of(source, i.step.event.spot.node) is function_of(source, call) for i in near
    )
    if inside and isinstance(name, ast.Name):
        lines = lines[:1]
        for one in near:
            spot = one.step.event.spot
            job.draft.after(spot.source, statement_of(spot), f"{schedule}.step()")
    assert made[0].spot is not None
    job.draft.after(source, statement_of(made[0].spot), *lines)
    return f"{kind} decay over {steps} steps after line {call.lineno}."


MAKERS: dict[str, Maker] = {"warm_up": warm_up, "hold_lr": hold_lr, "replace_schedule": replace_schedule}
