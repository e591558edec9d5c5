"""The optimizer: its momentum, betas, eps and weight decay, or another one in its place."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import Maker, value_of
from traindx.experiment.edit.job import Job, at, call_of, written
from traindx.experiment.edit.names import spelled
from traindx.experiment.edit.new_number import Wanted, plain
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.trainers import set_in_trainer
from traindx.experiment.edit.value_origin import change
from traindx.source.values import Const, DictValue, Items, Made, Value, number, options

_NAMES = {"adamw": "AdamW", "adam": "Adam", "sgd": "SGD"}
_SHARED = {"params", "lr", "weight_decay", "foreach", "maximize", "capturable", "differentiable", "fused"}
_OWN = {
    "SGD": {"momentum", "nesterov", "dampening"},
    "Adam": {"betas", "eps", "amsgrad"},
    "AdamW": {"betas", "eps", "amsgrad"},
}
_DEFAULTS = {
    ("weight_decay", False): 0.0,
    ("weight_decay", True): 0.01,
    ("eps", False): 1e-8,
    ("eps", True): 1e-8,
}
_TAKES = {
    "weight_decay": frozenset("SGD ASGD Adam AdamW NAdam RAdam Adamax RMSprop Adagrad Adadelta".split()),
    "eps": frozenset("Adam AdamW NAdam RAdam Adamax RMSprop Adagrad Adadelta".split()),
}
_MOMENTUM = {"SGD": 2, "RMSprop": 5}


def set_momentum(job: Job, values: Mapping[str, Scalar]) -> str:
    value = value_of(values, "value")
    told = []
    for one in _all(job):
        if one.short in _MOMENTUM:
            wanted = Wanted(value=value)
            told.append(change(job, one, "momentum", _MOMENTUM[one.short], wanted, r"momentum$|SGD\.2$", 0.0))
        else:
            told.append(_betas(job, one, value, None))
    return "; ".join(dict.fromkeys(told)) + "."


def set_betas(job: Job, values: Mapping[str, Scalar]) -> str:
    first = value_of(values, "beta1") if values.get("beta1") is not None else None
    second = value_of(values, "beta2") if values.get("beta2") is not None else None
    return "; ".join(dict.fromkeys(_betas(job, one, first, second) for one in _all(job))) + "."


def _betas(job: Job, made: Made, first: float | None, second: float | None) -> str:
    source, call = call_of(made)
    if "adam" not in made.short.lower():
        raise Uncertain(f"{made.short} has no betas.", at(made.spot))
    given = made.argument(2, "betas")
    pair = _pair(given)
    if given is None:
        pair = (0.9, 0.999)
    if pair is None:
        raise Uncertain(f"Set the betas that line {call.lineno} gives to the optimizer.", at(made.spot))
    wanted = (first if first is not None else pair[0], second if second is not None else pair[1])
    new = f"({plain(wanted[0])}, {plain(wanted[1])})"
    place, line = written(call, "betas", 2), call.lineno
    if (
        isinstance(given, Items)
        and given.spot is not None
        and isinstance(given.spot.node, ast.Tuple | ast.List)
    ):
        old, line = job.draft.text(given.spot.source, given.spot.node), given.spot.line
        job.draft.replace(
            given.spot.source, given.spot.node, new if old.startswith("(") else f"[{new[1:-1]}]"
        )
    elif place is not None or given is None:
        job.draft.keyword(source, call, "betas", new)
    else:
        raise Uncertain(f"Set the betas that line {call.lineno} gives to the optimizer.", at(made.spot))
    return f"betas={new} in line {line}"


def _pair(value: Value | None) -> tuple[float, float] | None:
    for one in options(value):
        if isinstance(one, Items) and len(one.items) == 2:
            first, second = number(one.items[0]), number(one.items[1])
            if first is not None and second is not None:
                return first, second
    return None


def set_eps(job: Job, values: Mapping[str, Scalar]) -> str:
    return _each(job, "eps", value_of(values, "value"))


def set_weight_decay(job: Job, values: Mapping[str, Scalar]) -> str:
    value = value_of(values, "value")
    return set_in_trainer(job, "set_weight_decay", value) or _each(job, "weight_decay", value)


def _each(job: Job, name: str, value: float) -> str:
    told = []
    for one in _all(job):
        if one.short not in _TAKES[name]:
            raise Uncertain(f"{one.short} takes no {name}.", at(one.spot))
        groups = _in_groups(one, name)
        if groups and not (len(groups) == 1 and one.argument(-1, name) is None):
            raise Uncertain(
                f"Several groups have a {name} of their own: set each to {value:g}.", at(one.spot)
            )
        if groups:
            told.append(_group(job, name, groups[0], value))
        else:
            usual = _DEFAULTS[name, one.short == "AdamW"]
            told.append(change(job, one, name, -1, Wanted(value=value), rf"{name}$|wd$|decay$", usual))
    return "; ".join(dict.fromkeys(told)) + "."


def _in_groups(made: Made, name: str) -> list[Value]:
    """The values that groups of parameters have for a setting, but for zeros: exempt on purpose."""
    groups = next(iter(options(made.args[0] if made.args else None)), None)
    tables = groups.items if isinstance(groups, Items) else []
    found = [one.items[name] for one in tables if isinstance(one, DictValue) and name in one.items]
    return [one for one in found if number(one) != 0]


def _group(job: Job, name: str, given: Value, value: float) -> str:
    spot = given.spot
    if spot is None or not isinstance(spot.node, ast.expr):
        raise Uncertain(f"Set {name} of the optimizer's group to {value:g}.", at(spot))
    text = job.draft.text(spot.source, spot.node)
    job.draft.replace(spot.source, spot.node, plain(value, text))
    return f"{name} {text} -> {plain(value, text)} in line {spot.line}"


def _all(job: Job) -> list[Made]:
    found = [one for one in job.optimizers() if one.name.startswith("torch.optim.")]
    if not found:
        raise Uncertain("No optimizer of PyTorch can be told in the script.")
    return found


def swap_optimizer(job: Job, values: Mapping[str, Scalar]) -> str:
    """Another optimizer in the same call; settings it does not know are left out."""
    name = _NAMES.get(str(values.get("name", "adamw")).lower())
    if name is None:
        raise ValueError(f"no such optimizer: {values.get('name')!r}")
    told = []
    for one in _all(job):
        told.append(_swapped(job, one, name, values.get("lr")))
    return "; ".join(dict.fromkeys(told)) + "."


def _swapped(job: Job, made: Made, name: str, lr: Scalar) -> str:
    source, call = call_of(made)
    if made.short == name:
        raise Uncertain(f"Line {call.lineno} makes {name} already.", at(made.spot))
    if made.open or len(call.args) > 2 or any(isinstance(one, ast.Starred) for one in call.args):
        raise Uncertain(f"Make {name} in line {call.lineno} instead of {made.short}.", at(made.spot))
    kept = [job.draft.text(source, one) for one in call.args]
    given = _settings(job, made, name)
    if lr is not None:
        given = {"lr": plain(float(lr)) if isinstance(lr, int | float) else str(lr)} | {
            one: text for one, text in given.items() if one != "lr"
        }
        kept = kept[:1]
    new = _maker_of(job, made, name)
    same = len(kept) + len(given) == len(call.args) + len(call.keywords) and lr is None
    if same and isinstance(call.func, ast.Attribute | ast.Name):
        job.draft.replace(source, call.func, new)
    else:
        settings = [f"{one}={text}" for one, text in given.items()]
        job.draft.replace(source, call, f"{new}({', '.join([*kept, *settings])})")
    named = isinstance(call.func, ast.Attribute | ast.Name)
    return f"{made.short} -> {name} in line {call.lineno}" + ("" if named else ", whatever the settings name")


def _maker_of(job: Job, made: Made, name: str) -> str:
    """How the file spells the new class: as it spells the old one, where it names that at all."""
    source, call = call_of(made)
    text = job.draft.text(source, call.func)
    if isinstance(call.func, ast.Attribute) and re.search(rf"\b{made.short}$", text):
        return text[: -len(made.short)] + name
    return spelled(job.draft, source, f"torch.optim.{name}")


def _settings(job: Job, made: Made, name: str) -> dict[str, str]:
    """What a call gives by name, unpacked or not, as far as another optimizer knows it."""
    source, call = call_of(made)
    own = {one.arg: job.draft.text(source, one.value) for one in call.keywords if one.arg is not None}
    found = {}
    for one, value in made.keywords.items():
        if one not in _SHARED | _OWN[name]:
            continue
        text = own.get(one)
        if text is None and value.spot is not None and isinstance(value, Const | Items):
            text = job.draft.text(value.spot.source, value.spot.node)
        if text is None:
            raise Uncertain(f"Make {name} in line {call.lineno} instead of {made.short}.", at(made.spot))
        found[one] = text
    return found


MAKERS: dict[str, Maker] = {
    "set_momentum": set_momentum,
    "set_betas": set_betas,
    "set_eps": set_eps,
    "set_weight_decay": set_weight_decay,
    "swap_optimizer": swap_optimizer,
}
