"""Loops that a framework runs over methods of the script: `fit` of Lightning, `train` of transformers.

They are followed as if the script had written them: batches, the loss, its backward pass, the steps of
optimizers and schedules, all at the line that starts the training.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from traindx.source.attributes import attribute, element, lookup
from traindx.source.execution import Loop
from traindx.source.follow_state import Machine
from traindx.source.values import (
    Arguments,
    Const,
    DictValue,
    Function,
    Instance,
    ListValue,
    Made,
    Spot,
    Unknown,
    Value,
    options,
)

Call = Callable[..., Value]
OPTIMIZERS = "_configured_optimizers"
_LIGHTNING = re.compile(r"^lightning\.(\w+\.)*Trainer$")
_TRANSFORMERS = re.compile(r"^(transformers|trl)\.(\w+\.)*\w*Trainer$")


def is_lightning(value: Value | None) -> bool:
    """Whether a value is Lightning's Trainer."""
    return isinstance(value, Made) and value.kind == "call" and bool(_LIGHTNING.match(value.name))


def is_transformers(value: Value | None) -> bool:
    """Whether a value is a Trainer of transformers, or of a class that the script derives from it."""
    if isinstance(value, Instance):
        return any(_TRANSFORMERS.match(name) for name in value.cls.library_bases)
    return isinstance(value, Made) and value.kind == "call" and bool(_TRANSFORMERS.match(value.name))


def run_trainer(machine: Machine, library_call: Made, call: Call) -> None:
    """Follow the loop behind a call of a trainer's method; nothing for other calls."""
    if library_call.kind != "method" or library_call.spot is None:
        return
    if library_call.name == "fit" and is_lightning(library_call.receiver):
        _fit(machine, library_call, library_call.spot, call)
    elif library_call.name == "train" and is_transformers(library_call.receiver):
        _train(machine, library_call, library_call.spot, call)


def _fit(machine: Machine, library_call: Made, spot: Spot, call: Call) -> None:
    module, trainer = library_call.argument(0, "model"), library_call.receiver
    if (
        not isinstance(module, Instance)
        or not isinstance(trainer, Made)
        or not _defines(module, "training_step")
    ):
        return
    configured = _call_method(machine, module, "configure_optimizers", [], spot, call)
    optimizers, schedules = _configured(configured)
    module.attributes[OPTIMIZERS] = (
        optimizers[0] if len(optimizers) == 1 else ListValue(spot, list(optimizers))
    )
    manual = module.attributes.get("automatic_optimization")
    by_hand = isinstance(manual, Const) and manual.value is False
    holders = [
        holder for holder in (library_call.argument(-1, "datamodule"), module) if isinstance(holder, Instance)
    ]
    for holder in holders:
        _call_method(machine, holder, "setup", [Const(spot, "fit")], spot, call)
    train = library_call.argument(1, "train_dataloaders") or _loader(machine, holders, "train", spot, call)
    val = library_call.argument(2, "val_dataloaders") or _loader(machine, holders, "val", spot, call)
    with machine.inside(_epochs(machine, trainer.argument(-1, "max_epochs"), spot)):
        with machine.inside(Loop(spot, train, machine.clock())):
            loss = _call_method(machine, module, "training_step", _batch(train, spot), spot, call)
            if not by_hand:
                _update(machine, spot, loss, optimizers)
                _step(machine, [schedule for schedule, per_batch in schedules if per_batch])
        if not by_hand:
            _step(machine, [schedule for schedule, per_batch in schedules if not per_batch])
        with machine.under(["torch.no_grad"]), machine.inside(Loop(spot, val, machine.clock())):
            _call_method(machine, module, "validation_step", _batch(val, spot), spot, call)


def _defines(module: Instance, name: str) -> bool:
    member = lookup(module.cls, name)
    return member is not None and isinstance(member[0], Function)


def _call_method(
    machine: Machine, of: Instance, name: str, args: list[Value], spot: Spot, call: Call
) -> Value | None:
    if not _defines(of, name):
        return None
    method = attribute(machine, of, name, spot)
    if isinstance(method, Function):
        needed = len(method.node.args.posonlyargs) + len(method.node.args.args) - 1
        args = args[:needed]
    result: Value = call(machine, method, Arguments(args), spot)
    return result


def _loader(machine: Machine, holders: list[Instance], kind: str, spot: Spot, call: Call) -> Value | None:
    """The loader that the data module, or the module itself, makes."""
    loaders = (_call_method(machine, holder, f"{kind}_dataloader", [], spot, call) for holder in holders)
    return next((loader for loader in loaders if loader is not None), None)


def _batch(over: Value | None, spot: Spot) -> list[Value]:
    return [element(over, spot) if over is not None else Unknown(spot, "batch"), Unknown(spot, "index")]


def _epochs(machine: Machine, count: Value | None, spot: Spot) -> Loop:
    turns = Made(spot, "call", "range", None, [count if count is not None else Unknown(spot, "epochs")])
    return Loop(spot, turns, machine.clock())


def _configured(value: Value | None) -> tuple[list[Value], list[tuple[Value, bool]]]:
    """Optimizers, and schedules with whether they are stepped with each batch."""
    optimizers: list[Value] = []
    schedules: list[tuple[Value, bool]] = []
    for option in options(value):
        if isinstance(option, DictValue):
            optimizers += [option.items["optimizer"]] if "optimizer" in option.items else []
            schedules += _paced(option.items.get("lr_scheduler"))
        elif (
            isinstance(option, ListValue)
            and len(option.items) == 2
            and isinstance(option.items[0], ListValue)
        ):
            optimizers += option.items[0].items
            listed = option.items[1]
            for schedule in listed.items if isinstance(listed, ListValue) else [listed]:
                schedules += _paced(schedule)
        elif isinstance(option, ListValue):
            for part in option.items:
                inner = _configured(part)
                optimizers += inner[0]
                schedules += inner[1]
        elif not (isinstance(option, Const) and option.value is None):
            optimizers.append(option)
    return optimizers, schedules


def _paced(value: Value | None) -> Iterator[tuple[Value, bool]]:
    if isinstance(value, DictValue):
        interval = value.items.get("interval")
        has_interval = interval is None or isinstance(interval, Const)
        if "scheduler" in value.items and has_interval:
            yield value.items["scheduler"], isinstance(interval, Const) and interval.value == "step"
    elif value is not None and not isinstance(value, Const):
        yield value, False


def _update(machine: Machine, spot: Spot, loss: Value | None, optimizers: list[Value]) -> None:
    """The gradients cleared, the backward pass, the steps; without a loss no backward pass."""
    result = next((option for option in options(loss)), None) if len(options(loss)) == 1 else loss
    if isinstance(result, DictValue):
        result = result.items.get("loss")
    elif isinstance(result, ListValue):
        result = result.items[0] if result.items else None
    stepping = optimizers or [Unknown(spot, "optimizer")]
    for optimizer in stepping:
        machine.event(Made(spot, "method", "zero_grad", optimizer))
    if not (isinstance(result, Const) and result.value is None):
        machine.event(Made(spot, "method", "backward", result or Unknown(spot, "loss")))
    for optimizer in stepping:
        machine.event(Made(spot, "method", "step", optimizer))


def _step(machine: Machine, schedules: list[Value]) -> None:
    for schedule in schedules:
        if schedule.spot is not None:
            machine.event(Made(schedule.spot, "method", "step", schedule))


def _train(machine: Machine, library_call: Made, spot: Spot, call: Call) -> None:
    trainer = library_call.receiver
    constructed = _construction(machine, trainer)
    model = constructed.argument(0, "model") if constructed is not None else None
    if constructed is None or model is None:
        return
    settings = constructed.argument(1, "args")
    count = settings.argument(-1, "num_train_epochs") if isinstance(settings, Made) else None
    optimizer_pair = constructed.argument(-1, "optimizers")
    optimizers = optimizer_pair.items[:1] if isinstance(optimizer_pair, ListValue) else []
    batches = Unknown(spot, "batches")
    with (
        machine.inside(_epochs(machine, count, spot)),
        machine.inside(Loop(spot, batches, machine.clock())),
    ):
        loss: Value | None
        if isinstance(trainer, Instance) and _defines(trainer, "compute_loss"):
            loss = _call_method(
                machine, trainer, "compute_loss", [model, Unknown(spot, "inputs")], spot, call
            )
        else:
            loss = call(machine, model, Arguments([], {}, open=True), spot)
            if isinstance(loss, Made):
                loss = Made(spot, "attribute", "loss", loss)
        _update(machine, spot, loss, optimizers)


def _construction(machine: Machine, trainer: Value | None) -> Made | None:
    """The call that made a trainer."""
    if isinstance(trainer, Made):
        return trainer
    constructions = (e.value for e in machine.trace.calls if e.value.receiver is trainer)
    return next(constructions, None) if isinstance(trainer, Instance) else None
