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


def run_trainer(machine: Machine, made: Made, call: Call) -> None:
    """Follow the loop behind a call of a trainer's method; nothing for other calls."""
    if made.kind != "method" or made.spot is None:
        return
    if made.name == "fit" and is_lightning(made.receiver):
        _fit(machine, made, made.spot, call)
    elif made.name == "train" and is_transformers(made.receiver):
        _train(machine, made, made.spot, call)


def _fit(machine: Machine, made: Made, spot: Spot, call: Call) -> None:
    module, trainer = made.argument(0, "model"), made.receiver
    if not isinstance(module, Instance) or not isinstance(trainer, Made) or not _own(module, "training_step"):
        return
    configured = _called(machine, module, "configure_optimizers", [], spot, call)
    optimizers, schedules = _configured(configured)
    module.attributes[OPTIMIZERS] = (
        optimizers[0] if len(optimizers) == 1 else ListValue(spot, list(optimizers))
    )
    manual = module.attributes.get("automatic_optimization")
    by_hand = isinstance(manual, Const) and manual.value is False
    holders = [one for one in (made.argument(-1, "datamodule"), module) if isinstance(one, Instance)]
    for one in holders:
        _called(machine, one, "setup", [Const(spot, "fit")], spot, call)
    train = made.argument(1, "train_dataloaders") or _loader(machine, holders, "train", spot, call)
    val = made.argument(2, "val_dataloaders") or _loader(machine, holders, "val", spot, call)
    with machine.inside(_epochs(machine, trainer.argument(-1, "max_epochs"), spot)):
        with machine.inside(Loop(spot, train, machine.clock())):
            loss = _called(machine, module, "training_step", _batch(train, spot), spot, call)
            if not by_hand:
                _update(machine, spot, loss, optimizers)
                _step(machine, [one for one, per_batch in schedules if per_batch])
        if not by_hand:
            _step(machine, [one for one, per_batch in schedules if not per_batch])
        with machine.under(["torch.no_grad"]), machine.inside(Loop(spot, val, machine.clock())):
            _called(machine, module, "validation_step", _batch(val, spot), spot, call)


def _own(module: Instance, name: str) -> bool:
    member = lookup(module.cls, name)
    return member is not None and isinstance(member[0], Function)


def _called(
    machine: Machine, of: Instance, name: str, args: list[Value], spot: Spot, call: Call
) -> Value | None:
    if not _own(of, name):
        return None
    method = attribute(machine, of, name, spot)
    if isinstance(method, Function):
        needed = len(method.node.args.posonlyargs) + len(method.node.args.args) - 1
        args = args[:needed]
    result: Value = call(machine, method, Arguments(args), spot)
    return result


def _loader(machine: Machine, holders: list[Instance], kind: str, spot: Spot, call: Call) -> Value | None:
    """The loader that the data module, or the module itself, makes."""
    loaders = (_called(machine, one, f"{kind}_dataloader", [], spot, call) for one in holders)
    return next((one for one in loaders if one is not None), None)


def _batch(over: Value | None, spot: Spot) -> list[Value]:
    return [element(over, spot) if over is not None else Unknown(spot, "batch"), Unknown(spot, "index")]


def _epochs(machine: Machine, count: Value | None, spot: Spot) -> Loop:
    turns = Made(spot, "call", "range", None, [count if count is not None else Unknown(spot, "epochs")])
    return Loop(spot, turns, machine.clock())


def _configured(value: Value | None) -> tuple[list[Value], list[tuple[Value, bool]]]:
    """Optimizers, and schedules with whether they are stepped with each batch."""
    optimizers: list[Value] = []
    schedules: list[tuple[Value, bool]] = []
    for one in options(value):
        if isinstance(one, DictValue):
            optimizers += [one.items["optimizer"]] if "optimizer" in one.items else []
            schedules += _paced(one.items.get("lr_scheduler"))
        elif isinstance(one, ListValue) and len(one.items) == 2 and isinstance(one.items[0], ListValue):
            optimizers += one.items[0].items
            listed = one.items[1]
            for schedule in listed.items if isinstance(listed, ListValue) else [listed]:
                schedules += _paced(schedule)
        elif isinstance(one, ListValue):
            for part in one.items:
                inner = _configured(part)
                optimizers += inner[0]
                schedules += inner[1]
        elif not (isinstance(one, Const) and one.value is None):
            optimizers.append(one)
    return optimizers, schedules


def _paced(value: Value | None) -> Iterator[tuple[Value, bool]]:
    if isinstance(value, DictValue):
        interval = value.items.get("interval")
        known = interval is None or isinstance(interval, Const)
        if "scheduler" in value.items and known:
            yield value.items["scheduler"], isinstance(interval, Const) and interval.value == "step"
    elif value is not None and not isinstance(value, Const):
        yield value, False


def _update(machine: Machine, spot: Spot, loss: Value | None, optimizers: list[Value]) -> None:
    """The gradients cleared, the backward pass, the steps; without a loss no backward pass."""
    result = next((one for one in options(loss)), None) if len(options(loss)) == 1 else loss
    if isinstance(result, DictValue):
        result = result.items.get("loss")
    elif isinstance(result, ListValue):
        result = result.items[0] if result.items else None
    held = optimizers or [Unknown(spot, "optimizer")]
    for one in held:
        machine.event(Made(spot, "method", "zero_grad", one))
    if not (isinstance(result, Const) and result.value is None):
        machine.event(Made(spot, "method", "backward", result or Unknown(spot, "loss")))
    for one in held:
        machine.event(Made(spot, "method", "step", one))


def _step(machine: Machine, schedules: list[Value]) -> None:
    for one in schedules:
        if one.spot is not None:
            machine.event(Made(one.spot, "method", "step", one))


def _train(machine: Machine, made: Made, spot: Spot, call: Call) -> None:
    trainer = made.receiver
    constructed = _construction(machine, trainer)
    model = constructed.argument(0, "model") if constructed is not None else None
    if constructed is None or model is None:
        return
    settings = constructed.argument(1, "args")
    count = settings.argument(-1, "num_train_epochs") if isinstance(settings, Made) else None
    given = constructed.argument(-1, "optimizers")
    optimizers = given.items[:1] if isinstance(given, ListValue) else []
    batches = Unknown(spot, "batches")
    with (
        machine.inside(_epochs(machine, count, spot)),
        machine.inside(Loop(spot, batches, machine.clock())),
    ):
        loss: Value | None
        if isinstance(trainer, Instance) and _own(trainer, "compute_loss"):
            loss = _called(machine, trainer, "compute_loss", [model, Unknown(spot, "inputs")], spot, call)
        else:
            loss = call(machine, model, Arguments([], {}, open=True), spot)
            if isinstance(loss, Made):
                loss = Made(spot, "attribute", "loss", loss)
        _update(machine, spot, loss, optimizers)


def _construction(machine: Machine, trainer: Value | None) -> Made | None:
    """The call that made a trainer."""
    if isinstance(trainer, Made):
        return trainer
    made = (e.value for e in machine.trace.calls if e.value.receiver is trainer)
    return next(made, None) if isinstance(trainer, Instance) else None
