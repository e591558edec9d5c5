"""The schedule of the learning rate: a warm-up before it, another one, or none."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import value_of
from traindx.experiment.edit.job import Job, call_of, group_values
from traindx.experiment.edit.keras import call_text, construct, uses_keras
from traindx.experiment.edit.keras import optimizers as keras_optimizers
from traindx.experiment.edit.new_number import NewNumber, plain
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.trainers import set_in_trainer, write_in_trainer
from traindx.experiment.edit.value_origin import change, uses
from traindx.source.trainer_settings import trainer_setting
from traindx.source.values import Const, Made, Spot, Value, number, options

_WARM = re.compile(r"warm_?up", re.IGNORECASE)
_COUNTS = re.compile(r"warm_?up(_?(steps?|iters?|iterations?|updates?|batches))?$", re.IGNORECASE)
_KINDS = {
    "cosine": "CosineAnnealingLR",
    "linear": "LinearLR",
    "warm_restarts": "CosineAnnealingWarmRestarts",
    "cyclic": "CyclicLR",
}
# A warm-up to the rate of the script, which then stays; the others begin at it.
_KERAS_KINDS = {
    "warm_up": "PolynomialDecay({rate} / {steps}, {steps}, end_learning_rate={rate})",
    "ramp": "ExponentialDecay({rate}, {steps}, {factor})",
    "cosine": "CosineDecay({rate}, {steps})",
    "linear": "PolynomialDecay({rate}, {steps}, end_learning_rate=0.01 * {rate})",
    "warm_restarts": "CosineDecayRestarts({rate}, {steps}, t_mul=1.0)",
}
_IN_TRAINER = {
    "constant": "constant",
    "cosine": "cosine",
    "linear": "linear",
    "warm_restarts": "cosine_with_restarts",
}
_ONCE = ("cosine", "linear")
# Schedules that multiply the current learning rate, so that a warm-up keeps its effect next to them.
_BY_FACTOR = frozenset(
    "StepLR MultiStepLR ExponentialLR CosineAnnealingLR ReduceLROnPlateau PolynomialLR".split()
)


def warm_up(job: Job, values: Mapping[str, Scalar]) -> str:
    steps = max(1, int(value_of(values, "steps")))
    if uses_keras(job):
        return _in_keras(job, "warm_up", steps)
    description = _set_length(job, steps) or (
        "" if job.schedulers() else set_in_trainer(job, "warmup", NewNumber(value=steps), r"warm_?up")
    )
    if description:
        return description
    optimizers = job.torch_optimizers()
    for schedule in job.schedulers():
        if schedule.short not in _BY_FACTOR:
            raise Uncertain(
                f"Put {steps} steps of linear warm-up before the schedule of this line.", schedule.spot
            )
    by_hand = _lr_set_in_loop(job)
    if by_hand is not None:
        raise Uncertain(f"Increase the learning rate set here over the first {steps} steps.", by_hand)
    return sentence(_with_warm_up(job, optimizer, steps) for optimizer in optimizers)


def _set_length(job: Job, steps: int) -> str:
    """A warm-up that the script knows already: its length is set."""
    for event in job.training.trace.events:
        for name in event.value.keywords:
            if _COUNTS.search(name) and number(event.value.keywords[name]) is not None:
                return (
                    change(job, event.value, name, -1, NewNumber(value=steps), r"warm_?up|total|steps") + "."
                )
    constants = {}
    for value in _warm_up_numbers(job):
        if value.spot is not None and isinstance(value.spot.node, ast.Constant):
            constants[id(value.spot.node)] = value
    if len(constants) != 1:
        return ""
    spot = next(iter(constants.values())).spot
    assert spot is not None
    text = "\n".join(source.text for source in job.script.sources)
    if not any(uses(job, spot)) and len(_WARM.findall(text)) < 2:
        return ""
    old = job.draft.text(spot.node)
    if not old.isdigit():
        return ""
    if old == str(steps):
        raise Uncertain(f"The warm-up takes {steps} steps already.", spot)
    job.draft.replace(spot.node, str(steps))
    return f"warm-up {old} -> {steps} steps in line {spot.line}."


def _warm_up_numbers(job: Job) -> list[Value]:
    """Numbers that go by the name of a warm-up counted in steps: constants, settings, defaults."""
    constants = [b.value for b in job.training.trace.bindings if _COUNTS.fullmatch(b.name)]
    for source in job.script.sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    is_warm_up = isinstance(key, ast.Constant) and _COUNTS.fullmatch(str(key.value))
                    if is_warm_up and isinstance(value, ast.Constant) and isinstance(value.value, int):
                        constants.append(Const(Spot(source, value), value.value))
    return [constant for constant in constants if number(constant) is not None]


def _with_warm_up(job: Job, optimizer: Made, steps: int) -> str:
    start, words = plain(1 / max(steps, 2)), f"Increase the learning rate over the first {steps} steps here."
    linear = job.spelled(call_of(optimizer), "torch.optim.lr_scheduler.LinearLR")

    def new(optimizer: str) -> str:
        return f"{linear}({optimizer}, start_factor={start}, total_iters={steps})"

    line = _add_scheduler(job, optimizer, "warmup", new, words)
    return f"a linear warm-up of {steps} steps after line {line}"


def _add_scheduler(job: Job, made: Made, name: str, new: Callable[[str], str], words: str) -> int:
    """A scheduler after the line that makes the optimizer, stepped after each of its steps; the line."""
    call = call_of(made)
    if _returned_with_schedule(job, made, name, new):
        return call.lineno
    target = job.bound_name(call)
    if target is None or made.spot is None:
        raise Uncertain(words, made.spot)
    optimizer, scheduler = job.draft.text(target), job.fresh(call, name)
    lines = [f"{scheduler} = {new(optimizer)}"]
    own_steps = [iteration.step for iteration in job.iterations() if not iteration.managed]
    steps = [step.event.spot for step in own_steps if any(o is made for o in step.optimizers)]
    function = job.function_of(call)
    counted = bool(job.training.trace.methods("accumulate"))  # Accelerate leaves out steps
    is_near = steps and not counted and all(job.function_of(spot.node) is function for spot in steps)
    if is_near and isinstance(target, ast.Name):
        for spot in steps:
            job.draft.after(job.statement_of(spot.node), f"{scheduler}.step()")
    else:
        lines.append(f"{optimizer}.register_step_post_hook(lambda *_: {scheduler}.step())")
    job.draft.after(job.statement_of(made.spot.node), *lines)
    return call.lineno


def _returned_with_schedule(job: Job, made: Made, name: str, new: Callable[[str], str]) -> bool:
    """In Lightning's `configure_optimizers`, which returns nothing but the optimizer: the schedule, too."""
    call = call_of(made)
    function = job.function_of(call)
    if not isinstance(function, ast.FunctionDef) or function.name != "configure_optimizers":
        return False
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    returned = returns[0].value if len(returns) == 1 else None
    target = job.bound_name(call)
    if returned is None or not (
        returned is call or (isinstance(target, ast.Name) and ast.unparse(returned) == target.id)
    ):
        return False
    schedule = job.fresh(call, name)
    optimizer = target.id if isinstance(target, ast.Name) else job.fresh(call, "optimizer")
    lines = [f"{schedule} = {new(optimizer)}"]
    if returned is call:
        lines.insert(0, f"{optimizer} = {job.draft.text(call)}")
    job.draft.before(returns[0], *lines)
    paced = f'{{"scheduler": {schedule}, "interval": "step"}}'
    job.draft.replace(returned, f'{{"optimizer": {optimizer}, "lr_scheduler": {paced}}}')
    return True


def _in_keras(job: Job, kind: str, steps: int, **values: str) -> str:
    """A schedule object of Keras in the place of the number that the learning rate is."""
    if kind not in _KERAS_KINDS or (job.run is not None and job.run.axis == "epoch"):
        raise Uncertain("Give the optimizer a schedule of keras.optimizers.schedules.")
    ruled = job.calls(lambda call: call.short in ("LearningRateScheduler", "ReduceLROnPlateau"))
    if ruled and kind != "ramp":
        raise Uncertain("This callback sets the learning rate: change it there.", ruled[0].spot)
    descriptions = []
    for optimizer in keras_optimizers(job):
        call = call_of(optimizer.call)
        rate_node = argument_node(call, "learning_rate", 0) if not optimizer.named else None
        value = optimizer.call.argument(0, "learning_rate") if not optimizer.named else None
        if isinstance(value, Made) and "schedules." in value.name and kind != "ramp":
            raise Uncertain("The optimizer of this line has a schedule already.", call)
        rate = (
            job.draft.text(rate_node)
            if rate_node is not None
            else plain(optimizer.default("learning_rate") or 1e-3)
        )
        filled = {"rate": rate, "steps": str(steps), **values}
        text = call_text(job, call, "keras.optimizers.schedules", _KERAS_KINDS[kind].format(**filled))
        if optimizer.named:
            descriptions.append(construct(job, optimizer, "learning_rate", text))
        elif rate_node is not None:
            job.draft.replace(rate_node, text)
        else:
            job.draft.keyword(call, "learning_rate", text)
        descriptions.append(f"{text} in line {call.lineno}")
    return sentence(descriptions)


def ramp_lr(job: Job, values: Mapping[str, Scalar]) -> str:
    """From one rate to another in equal factors: for a training whose rate cannot be set while it runs."""
    first, last = value_of(values, "first"), value_of(values, "last")
    factor, steps = plain(last / first), max(1, int(value_of(values, "steps")) - 1)
    if uses_keras(job):
        return _in_keras(job, "ramp", steps, rate=plain(first), factor=factor)
    raise Uncertain("It is a measurement, not a remedy.")


def hold_lr(job: Job) -> str:
    """A constant learning rate: the schedule becomes one that changes nothing."""
    descriptions = []
    for schedule in job.schedulers():
        other_schedules = [scheduler for scheduler in job.schedulers() if scheduler is not schedule]
        if any(schedule in options(value) for other in other_schedules for value in other.args):
            continue
        call = call_of(schedule)
        if schedule.short == "ReduceLROnPlateau":
            job.draft.keyword(call, "patience", "10**9")
        elif call.args or any(k.arg == "optimizer" for k in call.keywords):
            optimizer = job.draft.text(_optimizer(call))
            name = job.spelled(call, "torch.optim.lr_scheduler.ConstantLR")
            job.draft.replace(call, f"{name}({optimizer}, factor=1.0)")
        else:
            raise Uncertain("Remove the schedule of this line.", schedule.spot)
        descriptions.append(f"no schedule in line {call.lineno}")
    if not descriptions and (description := _in_trainer(job, "constant")):
        return description
    return sentence(descriptions, "No learning-rate schedule was found in the script.")


def _in_trainer(job: Job, kind: str) -> str:
    """The schedule of a trainer that makes it itself, which lasts as long as the training."""
    setting = trainer_setting(job.training.trace, "schedule")
    if setting is None or job.schedulers():
        return ""
    if kind not in _IN_TRAINER:
        raise Uncertain(f"The trainer of this line knows no {kind} schedule.", setting.call.spot)
    return write_in_trainer(job, setting, f'"{_IN_TRAINER[kind]}"') + "."


def _optimizer(call: ast.Call) -> ast.expr:
    return next((k.value for k in call.keywords if k.arg == "optimizer"), None) or call.args[0]


def replace_schedule(job: Job, values: Mapping[str, Scalar]) -> str:
    """One smooth decay over the whole run instead of the schedule, or where there is none."""
    kind, factor = str(values.get("kind", "cosine")), value_of(values, "factor", 5.0)
    if kind == "constant":
        return hold_lr(job)
    if kind not in _KINDS:
        raise ValueError(f"no such schedule: {kind!r}")
    steps = int(value_of(values, "steps"))
    if uses_keras(job):
        return _in_keras(job, kind, steps)
    description = _in_trainer(job, kind)
    if description:
        return description
    schedules = job.schedulers()
    if len(schedules) > 1:
        raise Uncertain(f"Replace the schedules by one {kind} decay over {steps} steps.", schedules[0].spot)
    if not schedules:
        return _new_schedule(job, kind, steps, factor)
    call = call_of(schedules[0])
    if schedules[0].short == "ReduceLROnPlateau" or not call.args:
        raise Uncertain(f"Use a {kind} decay over {steps} steps here.", schedules[0].spot)
    length = _length(job, schedules[0], steps, whole=kind in _ONCE)
    lasts = number(schedules[0].argument(1 if kind == "cosine" else 3, "T_max", "total_iters"))
    if schedules[0].short == _KINDS.get(kind) and lasts == float(length):
        raise Uncertain(f"The schedule of this line decays over {length} steps already.", schedules[0].spot)
    optimizer = job.draft.text(call.args[0])
    job.draft.replace(call, _schedule(job, call, kind, optimizer, length, factor))
    return f"{_KINDS[kind]} over {length} steps of the schedule in line {call.lineno}."


def _schedule(
    job: Job, near: ast.AST, kind: str, optimizer: str, length: str, factor: float, lr: float | None = None
) -> str:
    """The call that makes a schedule; a cyclic one rises to `factor` times the optimizer's `lr`."""
    name = job.spelled(near, f"torch.optim.lr_scheduler.{_KINDS[kind]}")
    if kind == "linear":
        return f"{name}({optimizer}, start_factor=1.0, end_factor=0.01, total_iters={length})"
    if kind == "cyclic":
        groups = f"for group in {optimizer}.param_groups]"
        low = plain(lr) if lr else f'[group["lr"] {groups}'
        high = plain(lr * factor) if lr else f'[{plain(factor)} * group["lr"] {groups}'
        half = plain(int(length) / 2)
        return f"{name}({optimizer}, {low}, {high}, step_size_up={half}, cycle_momentum=False)"
    return f"{name}({optimizer}, {'T_max' if kind == 'cosine' else 'T_0'}={length})"


def _length(job: Job, schedule: Made, steps: int, *, whole: bool) -> str:
    """How often the schedule is stepped: per batch, as the optimizer, or in the `whole` run per epoch."""
    events = [
        e for e in job.training.scheduler_steps if any(o is schedule for o in options(e.value.receiver))
    ]
    loop = job.training.main.loop if job.training.main is not None else None
    if not events or loop is None:
        raise Uncertain("The schedule of this line is never stepped: step it once per batch.", schedule.spot)
    if all(loop in e.loops for e in events):
        return str(steps)
    if not whole:
        raise Uncertain(f"Step the schedule once per batch, with cycles of {steps} steps.", schedule.spot)
    over = events[0].loops[-1].over if events[0].loops else None
    epochs = (
        over.args[-1] if isinstance(over, Made) and over.name == "range" and len(over.args) == 1 else None
    )
    count = number(epochs)
    if count is None:
        raise Uncertain("Make the schedule of this line last for all epochs.", schedule.spot)
    return str(int(count))


def _new_schedule(job: Job, kind: str, steps: int, factor: float) -> str:
    optimizers = [optimizer for optimizer in job.optimizers() if optimizer.name.startswith("torch.optim.")]
    words = f"Let the learning rate follow a {_KINDS[kind]} over {steps} steps."
    if len(optimizers) != 1 or _lr_set_in_loop(job) is not None:
        raise Uncertain(words)
    call = call_of(optimizers[0])
    lr = None if group_values(optimizers[0], "lr") else number(optimizers[0].argument(1, "lr"))

    def new(optimizer: str) -> str:
        return _schedule(job, call, kind, optimizer, str(steps), factor, lr)

    line = _add_scheduler(job, optimizers[0], "schedule", new, words)
    return f"{_KINDS[kind]} over {steps} steps after line {line}."


def _lr_set_in_loop(job: Job) -> Spot | None:
    """Where a loop of the script sets the learning rate of a parameter group itself."""
    bindings = (b for b in job.training.trace.bindings if b.name == "lr" and b.owner is not None and b.loops)
    return next((b.spot for b in bindings), None)
