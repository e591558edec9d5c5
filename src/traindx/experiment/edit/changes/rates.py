"""The learning rate: scaled or set, in every optimizer and wherever a schedule has its own."""

from __future__ import annotations

from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import value_of
from traindx.experiment.edit.job import Job, group_values
from traindx.experiment.edit.keras import KerasOptimizer, construct
from traindx.experiment.edit.keras import optimizers as keras_optimizers
from traindx.experiment.edit.new_number import NewNumber
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.trainers import set_in_trainer
from traindx.experiment.edit.value_origin import change, in_group, rewritten
from traindx.source.jax import differentiates, written_rates
from traindx.source.values import Const, Made, Value, number, options, parents

LIKE = (
    r"(lr|learning_rate|eta_min|rate)$|(SGD|ASGD|Adam\w*|NAdam|RAdam|RMSprop|Adagrad|Adadelta|Rprop|LBFGS|Lion)\.[01]$"
    r"|LR\.\d$"
)
DEFAULTS = {
    "SGD": 1e-3,
    "Adam": 1e-3,
    "AdamW": 1e-3,
    "NAdam": 2e-3,
    "RAdam": 1e-3,
    "Adamax": 2e-3,
    "RMSprop": 1e-2,
    "Adagrad": 1e-2,
    "Adadelta": 1.0,
    "Rprop": 1e-2,
    "ASGD": 1e-2,
}
LIKE_SCHEDULE = rf"{LIKE}|(rate|value|warmup_target)$|\.0$"
_SCHEDULE_RATES = ("warmup_target", "end_learning_rate", "peak_value", "end_value")
_OWN_RATE = {"OneCycleLR": ("max_lr",), "CyclicLR": ("base_lr", "max_lr")}
_PLACES = {("OneCycleLR", "max_lr"): 1, ("CyclicLR", "base_lr"): 1, ("CyclicLR", "max_lr"): 2}


def scale_lr(job: Job, values: Mapping[str, Scalar]) -> str:
    return _rates(job, NewNumber(factor=value_of(values, "factor")))


def set_lr(job: Job, values: Mapping[str, Scalar]) -> str:
    return _rates(job, NewNumber(value=value_of(values, "value")))


def _rates(job: Job, new_number: NewNumber) -> str:
    descriptions = [
        _of_named(job, optimizer, new_number) for optimizer in keras_optimizers(job) if optimizer.named
    ]
    optimizers = job.optimizers()
    if not optimizers and not descriptions:
        descriptions += _trainer(job, new_number) or _hand_written(job, new_number)
    for optimizer in optimizers:
        descriptions += _of_optimizer(job, optimizer, new_number)
    descriptions += _schedules(job, new_number)
    if descriptions:
        _by_hand(job)
    return sentence(descriptions, "No optimizer with a learning rate was found in the script.")


def _hand_written(job: Job, new_number: NewNumber) -> list[str]:
    """The rates of JAX steps without an optimizer of a library."""
    nodes = [node for _, node in written_rates(job.script)] if differentiates(job.script) else []
    return [
        f"{rewritten(job, 'learning rate', node, new_number, node.value)} in line {node.lineno}"  # type: ignore[arg-type]
        for node in nodes
    ]


def _of_named(job: Job, optimizer: KerasOptimizer, new_number: NewNumber) -> str:
    """The rate of an optimizer that `compile` has by its name."""
    default = optimizer.default("learning_rate") or 0.0
    return construct(job, optimizer, "learning_rate", new_number.literal(default))


def _of_optimizer(job: Job, optimizer: Made, new_number: NewNumber) -> list[str]:
    groups = group_values(optimizer, "lr")
    # Those of torch are given the parameters first.
    rate_first = optimizer.name.startswith(("keras", "optax."))
    rate = optimizer.argument(0 if rate_first else 1, "lr", "learning_rate")
    schedules = [
        option for option in options(rate) if isinstance(option, Made) and _is_schedule_object(option)
    ]
    if schedules:
        return [_of_schedule(job, schedule, new_number) for schedule in schedules]
    if groups and new_number.factor is None:
        raise Uncertain(
            f"Several groups have their own learning rates: set each of them to {new_number.value}.",
            optimizer.spot,
        )
    descriptions = [in_group(job, "lr", rate, new_number) for rate in groups]
    covered = groups and optimizer.argument(1, "lr") is None
    if not covered and not _ruled_by_schedule(job, optimizer):
        name = "learning_rate" if rate_first or "learning_rate" in optimizer.keywords else "lr"
        default = DEFAULTS.get(optimizer.short)
        if optimizer.name.startswith("keras"):
            default = KerasOptimizer(optimizer.short, optimizer).default(name)
        descriptions.append(change(job, optimizer, name, 0 if rate_first else 1, new_number, LIKE, default))
    return descriptions


def _is_schedule_object(value: Made) -> bool:
    return value.kind == "call" and ("schedules." in value.name or value.name.startswith("optax."))


def _of_schedule(job: Job, schedule: Made, new_number: NewNumber) -> str:
    """The rates that a schedule object is made with: all of them scaled, or its one rate set."""
    names = ("initial_learning_rate", "init_value", "value")
    name = next((keyword for keyword in names if keyword in schedule.keywords), names[0])
    other_names = [keyword for keyword in _SCHEDULE_RATES if keyword in schedule.keywords]
    if (other_names and new_number.factor is None) or (schedule.argument(0, name) is None):
        raise Uncertain("The learning rate is a schedule object: change its values.", schedule.spot)
    first = change(job, schedule, name, 0, new_number, LIKE_SCHEDULE)
    return "; ".join(
        [first, *(change(job, schedule, keyword, -1, new_number, LIKE_SCHEDULE) for keyword in other_names)]
    )


def _ruled_by_schedule(job: Job, optimizer: Made) -> bool:
    """Whether a schedule sets the learning rate and ignores the optimizer's own."""
    ruling = [scheduler for scheduler in job.schedulers() if scheduler.short in _OWN_RATE]
    return any(optimizer in options(scheduler.argument(0, "optimizer")) for scheduler in ruling)


def _schedules(job: Job, new_number: NewNumber) -> list[str]:
    descriptions = []
    for scheduler in job.schedulers():
        for name in _OWN_RATE.get(scheduler.short, ()):
            if name == "base_lr" and new_number.factor is None:
                continue
            descriptions.append(
                change(job, scheduler, name, _PLACES[scheduler.short, name], new_number, LIKE)
            )
        for name in ("eta_min", "min_lr"):
            floor = scheduler.keywords.get(name)
            if new_number.factor is not None and (number(floor) or 0.0) > 0:
                descriptions.append(change(job, scheduler, name, -1, new_number, LIKE))
    return descriptions


def _by_hand(job: Job) -> None:
    """A rate that the loop sets by itself must follow from one that was changed."""
    for bound in job.training.trace.bindings:
        if bound.name != "lr" or bound.owner is None or not bound.loops or bound.added:
            continue
        if not _derived(job, bound.value):
            raise Uncertain(
                f"Line {bound.spot.line} sets the learning rate itself: change the number there.",
                bound.spot,
            )


def _derived(job: Job, value: Value, depth: int = 6) -> bool:
    """Whether a rate is computed from the group's own, or from a number that the draft changes."""
    if isinstance(value, Const):
        return value.spot is not None and job.draft.touches(value.spot.node)
    if isinstance(value, Made) and value.kind == "item":
        key = value.args[0] if value.args else None
        return isinstance(key, Const) and key.value in ("lr", "initial_lr")
    if isinstance(value, Made) and value.kind == "attribute":
        return value.name in ("base_lrs", "lr", "initial_lr", "base_lr")
    return depth > 0 and any(_derived(job, parent, depth - 1) for parent in parents(value))


def _trainer(job: Job, new_number: NewNumber) -> list[str]:
    """The rate of a trainer that makes the optimizer itself."""
    description = set_in_trainer(job, "lr", new_number, LIKE)
    return [description.rstrip(".")] if description else []
