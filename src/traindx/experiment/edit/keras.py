"""Keras sources: how a file spells its names, where settings of optimizers, layers and `fit` are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from traindx.experiment.edit.job import Job, call_of, once
from traindx.experiment.edit.names import imported, spelled_as
from traindx.experiment.edit.new_number import Wanted
from traindx.experiment.edit.nodes import written
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.trainers import add_to_list
from traindx.experiment.edit.value_origin import change
from traindx.source.execution import CallEvent
from traindx.source.keras import Compiled, compiled, models
from traindx.source.values import Const, Made

_OPTIMIZERS = "keras.optimizers."
_CLASSES = {
    one.lower(): one
    for one in "Adam SGD RMSprop Adagrad Adadelta Adamax Nadam AdamW Ftrl Lion Adafactor Lamb Muon".split()
}
_DEFAULT = "rmsprop"
# The defaults of settings; where a class has its own, under its name.
_DEFAULTS: dict[str, float | None] = {
    "learning_rate": 1e-3,
    "SGD.learning_rate": 1e-2,
    "momentum": 0.0,
    "beta_1": 0.9,
    "beta_2": 0.999,
    "epsilon": 1e-7,
    "weight_decay": 0.0,
    "AdamW.weight_decay": 4e-3,
}
_POSITIONS = {"learning_rate": 0, "SGD.momentum": 1, "RMSprop.momentum": 2}
_ADAMS = frozenset("Adam AdamW Adamax Nadam".split())
_TAKES = {
    "momentum": frozenset(("SGD", "RMSprop")),
    "beta_1": _ADAMS,
    "beta_2": _ADAMS,
    "epsilon": _ADAMS | {"RMSprop", "Adagrad", "Adadelta"},
}
_WEIGHTED = frozenset("Dense Conv1D Conv2D Conv3D SeparableConv1D SeparableConv2D DepthwiseConv2D".split())


@dataclass(frozen=True)
class KerasOptimizer:
    """An optimizer: `call` makes it, or is the call of `compile` that it is `named` in."""

    kind: str
    call: Made
    named: bool = False

    def default(self, name: str) -> float | None:
        return _DEFAULTS.get(f"{self.kind}.{name}", _DEFAULTS.get(name))


def optimizers(job: Job) -> list[KerasOptimizer]:
    """Those that are made by a call first, then those that `compile` is given by name."""
    made = [one for one in job.optimizers() if one.name.startswith(_OPTIMIZERS)]
    named = [one for model in compiled(job.training.trace) for one in _by_name(model)]
    return [*(KerasOptimizer(one.short, one) for one in made), *named]


def _by_name(model: Compiled) -> Iterator[KerasOptimizer]:
    optimizer = model.optimizer
    name = optimizer.value if isinstance(optimizer, Const) and not optimizer.soft else None
    if optimizer is None and not model.event.value.open:
        name = _DEFAULT
    kind = _CLASSES.get(name.lower()) if isinstance(name, str) else None
    if kind is not None:
        yield KerasOptimizer(kind, model.event.value, named=True)


def uses_keras(job: Job) -> bool:
    """Whether Keras trains: a model is compiled, or an optimizer of Keras made, and none of PyTorch."""
    if any(one.name.startswith("torch.") for one in job.optimizers()):
        return False
    return bool(optimizers(job) or compiled(job.training.trace))


def keras_name(job: Job, near: ast.AST, name: str) -> str:
    """`keras.optimizers.Adam` as the file of a node would write it, with the import that is missing."""
    known = imported(job.file(near))
    for root in ("", "tensorflow."):
        text = spelled_as(known, root + name)
        if text is not None:
            return text
    of_tensorflow = any(one.startswith("tensorflow.") for one in known)
    job.draft.add_import(near, "from tensorflow import keras" if of_tensorflow else "import keras")
    return name


def layer_text(job: Job, near: ast.AST, call: str) -> str:
    """`Dropout(0.2)` as the file of a node would make the layer."""
    kind = call.partition("(")[0]
    return keras_name(job, near, f"keras.layers.{kind}") + call.removeprefix(kind)


def set_option(job: Job, name: str, wanted: Wanted, like: str) -> str:
    """An argument of every optimizer; one that `compile` has by name is made by a call."""
    found = optimizers(job)
    if not found:
        raise Uncertain(f"No optimizer whose {name} could be set was found in the script.")
    return sentence(_set(job, one, name, wanted, like) for one in found)


def _set(job: Job, one: KerasOptimizer, name: str, wanted: Wanted, like: str) -> str:
    if name in _TAKES and one.kind not in _TAKES[name]:
        raise Uncertain(f"{one.kind} takes no {name}.", one.call.spot)
    default = one.default(name)
    if not one.named:
        position = _POSITIONS.get(f"{one.kind}.{name}", _POSITIONS.get(name, -1))
        return change(job, one.call, name, position, wanted, like, default)
    if wanted.factor is None and wanted.value == default:
        raise Uncertain(f"{name} is {default:g} already: nothing sets it.", one.call.spot)
    return construct(job, one, name, wanted.literal(default if default is not None else 0.0))


def construct(job: Job, one: KerasOptimizer, name: str, value: str) -> str:
    """`optimizer="adam"` becomes `optimizer=keras.optimizers.Adam(name=value)`."""
    call = call_of(one.call)
    new = f"{keras_name(job, call, f'{_OPTIMIZERS}{one.kind}')}({name}={value})"
    old = written(call, "optimizer", 0)
    if old is None:
        job.draft.keyword(call, "optimizer", new)
        return f"optimizer={new} in line {call.lineno}"
    text = job.draft.text(old)
    job.draft.replace(old, new)
    return f"{text} -> {new} in line {call.lineno}"


def hidden(job: Job) -> list[Made]:
    """Dense and convolutional layers of all models, without those that make the output."""
    chosen: dict[int, Made] = {}
    for layers in models(job.training.trace):
        weighted = [one for one in layers if one.short in _WEIGHTED and one.spot is not None]
        chosen |= {id(one.spot.node): one for one in weighted[:-1] if one.spot is not None}
    if not chosen:
        raise Uncertain("No hidden layer was found in the script.")
    return list(chosen.values())


def all_layers(job: Job) -> list[Made]:
    return [one for layers in models(job.training.trace) for one in layers if one.spot is not None]


def fits(job: Job) -> list[CallEvent]:
    """The calls of `fit` that train; raises Uncertain when there is none."""
    trained = once(e for model in compiled(job.training.trace) for e in model.fits)
    trained = [e for e in trained if e.value.name == "fit"]
    if not trained:
        raise Uncertain("No call of fit was found in the script.")
    return trained


def add_callback(job: Job, new: str, *others: str) -> str:
    """One more callback in every fit; raises Uncertain where it has one like it, or some in a variable."""
    descriptions = []
    for event in fits(job):
        call = call_of(event.value)
        kind = new.partition("(")[0]
        text = keras_name(job, call, f"keras.callbacks.{kind}") + new.removeprefix(kind)
        same = [e for e in job.training.trace.calls if e.value.short in (kind, *others)]
        if same:
            raise Uncertain(f"Line {same[0].spot.line} has {same[0].value.short} already.", same[0].spot)
        add_to_list(job, event.value, "callbacks", text)
        descriptions.append(f"{new} in the fit of line {call.lineno}")
    return sentence(descriptions)
