"""Keras sources: how a file spells its names, where settings of optimizers, layers and `fit` are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from traindx.experiment.edit.job import Job, call_of, once
from traindx.experiment.edit.names import imported, spelled_as
from traindx.experiment.edit.new_number import NewNumber
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.trainers import add_to_list
from traindx.experiment.edit.value_origin import change
from traindx.source.execution import CallEvent
from traindx.source.keras import Compiled, compiled, models
from traindx.source.values import Const, Made

_OPTIMIZERS = "keras.optimizers."
_CLASSES = {
    name.lower(): name
    for name in "Adam SGD RMSprop Adagrad Adadelta Adamax Nadam AdamW Ftrl Lion Adafactor Lamb Muon".split()
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
    constructed = [optimizer for optimizer in job.optimizers() if optimizer.name.startswith(_OPTIMIZERS)]
    by_name = [optimizer for model in compiled(job.training.trace) for optimizer in _by_name(model)]
    return [*(KerasOptimizer(optimizer.short, optimizer) for optimizer in constructed), *by_name]


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
    if any(optimizer.name.startswith("torch.") for optimizer in job.optimizers()):
        return False
    return bool(optimizers(job) or compiled(job.training.trace))


def keras_name(job: Job, near: ast.AST, name: str) -> str:
    """`keras.optimizers.Adam` as the file of a node would write it, with the import that is missing."""
    imports = imported(job.file(near))
    for root in ("", "tensorflow."):
        text = spelled_as(imports, root + name)
        if text is not None:
            return text
    of_tensorflow = any(module.startswith("tensorflow.") for module in imports)
    job.draft.add_import(near, "from tensorflow import keras" if of_tensorflow else "import keras")
    return name


def call_text(job: Job, near: ast.AST, package: str, call: str) -> str:
    """`Dropout(0.2)` of a package as the file of a node would call it."""
    kind = call.partition("(")[0]
    return keras_name(job, near, f"{package}.{kind}") + call.removeprefix(kind)


def layer_text(job: Job, near: ast.AST, call: str) -> str:
    """`Dropout(0.2)` as the file of a node would make the layer."""
    return call_text(job, near, "keras.layers", call)


def batch_size_text(job: Job, fit: ast.Call) -> str:
    """The batch size of a call of `fit` as it is written; Keras takes 32 where it is not given."""
    size = argument_node(fit, "batch_size", 2)
    return job.draft.text(size) if size is not None else "32"


def set_option(job: Job, name: str, new_number: NewNumber, like: str) -> str:
    """An argument of every optimizer; one that `compile` has by name is made by a call."""
    targets = optimizers(job)
    if not targets:
        raise Uncertain(f"No optimizer whose {name} could be set was found in the script.")
    return sentence(_set(job, optimizer, name, new_number, like) for optimizer in targets)


def _set(job: Job, optimizer: KerasOptimizer, name: str, new_number: NewNumber, like: str) -> str:
    if name in _TAKES and optimizer.kind not in _TAKES[name]:
        raise Uncertain(f"{optimizer.kind} takes no {name}.", optimizer.call.spot)
    default = optimizer.default(name)
    if not optimizer.named:
        position = _POSITIONS.get(f"{optimizer.kind}.{name}", _POSITIONS.get(name, -1))
        return change(job, optimizer.call, name, position, new_number, like, default)
    if new_number.factor is None and new_number.value == default:
        raise Uncertain(f"{name} is {default:g} already: nothing sets it.", optimizer.call.spot)
    return construct(job, optimizer, name, new_number.literal(default if default is not None else 0.0))


def construct(job: Job, optimizer: KerasOptimizer, name: str, value: str) -> str:
    """`optimizer="adam"` becomes `optimizer=keras.optimizers.Adam(name=value)`."""
    call = call_of(optimizer.call)
    new = f"{keras_name(job, call, f'{_OPTIMIZERS}{optimizer.kind}')}({name}={value})"
    old = argument_node(call, "optimizer", 0)
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
        weighted = [layer for layer in layers if layer.short in _WEIGHTED and layer.spot is not None]
        chosen |= {id(layer.spot.node): layer for layer in weighted[:-1] if layer.spot is not None}
    if not chosen:
        raise Uncertain("No hidden layer was found in the script.")
    return list(chosen.values())


def all_layers(job: Job) -> list[Made]:
    return [layer for layers in models(job.training.trace) for layer in layers if layer.spot is not None]


def fits(job: Job) -> list[CallEvent]:
    """The calls of `fit` that train; raises Uncertain when there is none."""
    trained = once(e for model in compiled(job.training.trace) for e in model.fits)
    trained = [e for e in trained if e.value.name == "fit"]
    if not trained:
        raise Uncertain("No call of fit was found in the script.")
    return trained


def add_callback(job: Job, new: str, *other_kinds: str) -> str:
    """One more callback in every fit; raises Uncertain where it has one like it, or some in a variable."""
    descriptions = []
    for event in fits(job):
        call = call_of(event.value)
        kind = new.partition("(")[0]
        text = call_text(job, call, "keras.callbacks", new)
        same_kind = [e for e in job.training.trace.calls if e.value.short in (kind, *other_kinds)]
        if same_kind:
            raise Uncertain(
                f"Line {same_kind[0].spot.line} has {same_kind[0].value.short} already.", same_kind[0].spot
            )
        add_to_list(job, event.value, "callbacks", text)
        descriptions.append(f"{new} in the fit of line {call.lineno}")
    return sentence(descriptions)
