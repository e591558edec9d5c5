"""The optimizer: its momentum, betas, eps and weight decay, or another one in its place."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import value_of
from traindx.experiment.edit.job import Job, call_of, group_values, once
from traindx.experiment.edit.keras import KerasOptimizer, construct, keras_name, set_option, uses_keras
from traindx.experiment.edit.keras import optimizers as keras_optimizers
from traindx.experiment.edit.new_number import NewNumber, plain
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.trainers import set_in_trainer
from traindx.experiment.edit.value_origin import change, in_group
from traindx.source.values import Const, ListValue, Made, Value, number, options

_NAMES = {"adamw": "AdamW", "adam": "Adam", "sgd": "SGD"}
_SHARED = {"params", "lr", "weight_decay", "foreach", "maximize", "capturable", "differentiable", "fused"}
_OWN = {
    "SGD": {"momentum", "nesterov", "dampening"},
    "Adam": {"betas", "eps", "amsgrad"},
    "AdamW": {"betas", "eps", "amsgrad"},
}
_DEFAULTS = {"weight_decay": 0.0, "AdamW.weight_decay": 0.01, "eps": 1e-8}
_TAKES = {
    "weight_decay": frozenset("SGD ASGD Adam AdamW NAdam RAdam Adamax RMSprop Adagrad Adadelta".split()),
    "eps": frozenset("Adam AdamW NAdam RAdam Adamax RMSprop Adagrad Adadelta".split()),
}
# Where Keras' penalties take the share of the squares.
_PENALTIES = {"keras.regularizers.l2": 0, "keras.regularizers.l1l2": 1, "keras.regularizers.l1_l2": 1}
_MOMENTUM = {"SGD": 2, "RMSprop": 5}


def set_momentum(job: Job, values: Mapping[str, Scalar]) -> str:
    value = value_of(values, "value")
    if uses_keras(job):
        takes = all(optimizer.kind in ("SGD", "RMSprop") for optimizer in keras_optimizers(job))
        return set_option(
            job, "momentum" if takes else "beta_1", NewNumber(value=value), r"momentum$|beta_1$"
        )
    description = _in_trainer(job, "beta1", value)
    if description:
        return description
    descriptions = []
    for optimizer in job.torch_optimizers():
        if optimizer.short in _MOMENTUM:
            new_number = NewNumber(value=value)
            descriptions.append(
                change(
                    job,
                    optimizer,
                    "momentum",
                    _MOMENTUM[optimizer.short],
                    new_number,
                    r"momentum$|SGD\.2$",
                    0.0,
                )
            )
        else:
            descriptions.append(_betas(job, optimizer, value, None))
    return sentence(descriptions)


def set_betas(job: Job, values: Mapping[str, Scalar]) -> str:
    first = value_of(values, "beta1") if values.get("beta1") is not None else None
    second = value_of(values, "beta2") if values.get("beta2") is not None else None
    if uses_keras(job):
        return _keras_betas(job, {"beta_1": first, "beta_2": second})
    in_trainer = [_in_trainer(job, "beta1", first), _in_trainer(job, "beta2", second)]
    if any(in_trainer):
        return " ".join(description for description in in_trainer if description)
    return sentence(_betas(job, optimizer, first, second) for optimizer in job.torch_optimizers())


def _keras_betas(job: Job, betas: Mapping[str, float | None]) -> str:
    """Both as they should be; one that is already is left alone."""
    descriptions, already = [], None
    for name, value in betas.items():
        try:
            if value is not None:
                descriptions.append(set_option(job, name, NewNumber(value=value), rf"{name}$"))
        except Uncertain as error:
            already = error
    if not descriptions and already is not None:
        raise already
    return " ".join(descriptions)


def _betas(job: Job, optimizer: Made, first: float | None, second: float | None) -> str:
    call = call_of(optimizer)
    if "adam" not in optimizer.short.lower():
        raise Uncertain(f"{optimizer.short} has no betas.", optimizer.spot)
    betas = optimizer.argument(2, "betas")
    pair = _pair(betas) if betas is not None else (0.9, 0.999)
    if pair is None:
        raise Uncertain(f"Set the betas that line {call.lineno} gives to the optimizer.", optimizer.spot)
    new_betas = (first if first is not None else pair[0], second if second is not None else pair[1])
    new = f"({plain(new_betas[0])}, {plain(new_betas[1])})"
    place, line = argument_node(call, "betas", 2), call.lineno
    node = betas.spot.node if isinstance(betas, ListValue) and betas.spot is not None else None
    if isinstance(node, ast.Tuple | ast.List):
        line = node.lineno
        job.draft.replace(node, new if job.draft.text(node).startswith("(") else f"[{new[1:-1]}]")
    elif place is not None or betas is None:
        job.draft.keyword(call, "betas", new)
    else:
        raise Uncertain(f"Set the betas that line {call.lineno} gives to the optimizer.", optimizer.spot)
    return f"betas={new} in line {line}"


def _pair(value: Value | None) -> tuple[float, float] | None:
    for option in options(value):
        numbers = [number(item) for item in option.items] if isinstance(option, ListValue) else []
        match numbers:
            case [float(first), float(second)]:
                return first, second
    return None


def set_eps(job: Job, values: Mapping[str, Scalar]) -> str:
    value = value_of(values, "value")
    if uses_keras(job):
        return set_option(job, "epsilon", NewNumber(value=value), r"epsilon$")
    return _in_trainer(job, "eps", value) or _set_for_each(job, "eps", value)


def set_weight_decay(job: Job, values: Mapping[str, Scalar]) -> str:
    value = value_of(values, "value")
    if uses_keras(job):
        return _penalties(job, value) or set_option(
            job, "weight_decay", NewNumber(value=value), r"weight_decay$|wd$|decay$"
        )
    return _in_trainer(job, "weight_decay", value) or _set_for_each(job, "weight_decay", value)


def _in_trainer(job: Job, name: str, value: float | None) -> str:
    """A setting of the optimizer that a trainer makes; empty where the script makes one itself."""
    if value is None or job.optimizers():
        return ""
    return set_in_trainer(job, name, NewNumber(value=value))


def _penalties(job: Job, value: float) -> str:
    """The L2 penalties of Keras' layers, which are its older way to decay weights; empty without any."""
    penalties = [e.value for e in once(job.calls(lambda call: call.name.lower() in _PENALTIES))]
    new_number, like = NewNumber(value=value), r"l2|reg|\.0$|decay"
    changed = [
        change(job, penalty, "l2", _PENALTIES[penalty.name.lower()], new_number, like, 0.01)
        for penalty in penalties
    ]
    return sentence(changed) if changed else ""


def _set_for_each(job: Job, name: str, value: float) -> str:
    descriptions = []
    for optimizer in job.torch_optimizers():
        if optimizer.short not in _TAKES[name]:
            raise Uncertain(f"{optimizer.short} takes no {name}.", optimizer.spot)
        # Groups with zeros are exempt on purpose.
        groups = [group for group in group_values(optimizer, name) if number(group) != 0]
        if groups and not (len(groups) == 1 and optimizer.argument(-1, name) is None):
            raise Uncertain(f"Several groups have their own {name}: set each to {value:g}.", optimizer.spot)
        if groups:
            descriptions.append(in_group(job, name, groups[0], NewNumber(value=value)))
        else:
            default = _DEFAULTS.get(f"{optimizer.short}.{name}", _DEFAULTS[name])
            like = rf"{name}$|wd$|decay$"
            descriptions.append(change(job, optimizer, name, -1, NewNumber(value=value), like, default))
    return sentence(descriptions)


def swap_optimizer(job: Job, values: Mapping[str, Scalar]) -> str:
    """Another optimizer in the same call; settings it does not know are left out."""
    name = _NAMES.get(str(values.get("name", "adamw")).lower())
    if name is None:
        raise ValueError(f"no such optimizer: {values.get('name')!r}")
    if uses_keras(job):
        optimizers = keras_optimizers(job)
        return sentence(_swapped_in_keras(job, optimizer, name, values.get("lr")) for optimizer in optimizers)
    return sentence(_swapped(job, optimizer, name, values.get("lr")) for optimizer in job.torch_optimizers())


def _swapped_in_keras(job: Job, optimizer: KerasOptimizer, name: str, lr: Scalar) -> str:
    """Another optimizer of Keras, with the rate asked for, else with the one the script gives."""
    if optimizer.kind == name:
        raise Uncertain(f"{name} is used already.", optimizer.call.spot)
    if optimizer.named:
        rate = lr if isinstance(lr, int | float) else optimizer.default("learning_rate") or 1e-3
        return construct(job, replace(optimizer, kind=name), "learning_rate", plain(float(rate)))
    call = call_of(optimizer.call)
    rate_node = argument_node(call, "learning_rate", 0)
    rate_text = plain(float(lr)) if isinstance(lr, int | float) else None
    rate_text = rate_text or (job.draft.text(rate_node) if rate_node is not None else None)
    maker = keras_name(job, call, f"keras.optimizers.{name}")
    job.draft.replace(call, f"{maker}({f'learning_rate={rate_text}' if rate_text else ''})")
    return f"{optimizer.kind} -> {name} in line {call.lineno}"


def _swapped(job: Job, optimizer: Made, name: str, lr: Scalar) -> str:
    call = call_of(optimizer)
    if optimizer.short == name:
        raise Uncertain(f"Line {call.lineno} uses {name} already.", optimizer.spot)
    if (
        optimizer.open
        or len(call.args) > 2
        or any(isinstance(argument, ast.Starred) for argument in call.args)
    ):
        raise Uncertain(f"Use {name} in line {call.lineno} instead of {optimizer.short}.", optimizer.spot)
    positional = [job.draft.text(argument) for argument in call.args]
    keywords = _settings(job, optimizer, name)
    if lr is not None:
        keywords.pop("lr", None)
        keywords = {"lr": plain(float(lr)) if isinstance(lr, int | float) else str(lr), **keywords}
        positional = positional[:1]
    new = _maker_of(job, optimizer, name)
    keeps_arguments = len(positional) + len(keywords) == len(call.args) + len(call.keywords) and lr is None
    if keeps_arguments and isinstance(call.func, ast.Attribute | ast.Name):
        job.draft.replace(call.func, new)
    else:
        settings = [f"{key}={text}" for key, text in keywords.items()]
        job.draft.replace(call, f"{new}({', '.join([*positional, *settings])})")
    is_named = isinstance(call.func, ast.Attribute | ast.Name)
    return f"{optimizer.short} -> {name} in line {call.lineno}" + (
        "" if is_named else ", whatever the settings name"
    )


def _maker_of(job: Job, optimizer: Made, name: str) -> str:
    """How the file spells the new class: as it spells the old one, where it names that at all."""
    call = call_of(optimizer)
    text = job.draft.text(call.func)
    if isinstance(call.func, ast.Attribute) and re.search(rf"\b{optimizer.short}$", text):
        return text[: -len(optimizer.short)] + name
    return job.spelled(call, f"torch.optim.{name}")


def _settings(job: Job, optimizer: Made, name: str) -> dict[str, str]:
    """What a call gives by name, unpacked or not, as far as another optimizer knows it."""
    call = call_of(optimizer)
    own_texts = {
        keyword.arg: job.draft.text(keyword.value) for keyword in call.keywords if keyword.arg is not None
    }
    texts = {}
    for key, value in optimizer.keywords.items():
        if key not in _SHARED | _OWN[name]:
            continue
        text = own_texts.get(key)
        if text is None and value.spot is not None and isinstance(value, Const | ListValue):
            text = job.draft.text(value.spot.node)
        if text is None:
            raise Uncertain(f"Use {name} in line {call.lineno} instead of {optimizer.short}.", optimizer.spot)
        texts[key] = text
    return texts
