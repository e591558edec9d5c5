"""Lines of data sets: how many samples there are, which targets are masked, what leaks, what differs."""

from __future__ import annotations

import ast
import re

from traindx.source.anchors_of_data import dataset, made_at, unwrapped, validated
from traindx.source.anchors_of_loop import first, origin
from traindx.source.parameters import held
from traindx.source.training import Training
from traindx.source.values import (
    Const,
    Either,
    Function,
    Instance,
    ListValue,
    Made,
    Spot,
    Unknown,
    Value,
    number,
    parents,
    upstream,
)

_DRAWS = frozenset(
    """
    randn rand randint zeros ones empty arange linspace normal uniform random integers standard_normal choice
    poisson exponential randperm make_moons make_classification make_regression make_blobs
    """.split()
)
_JOINS = frozenset("cat concat concatenate stack column_stack hstack c_ insert assign".split())
_FILLS = ("masked_fill", "masked_fill_", "where", "full_like", "full", "index_fill_")
_COLUMNS = re.compile(r"^(input_|feature_)?(features?|columns|cols|names|predictors)$", re.I)
_FEW_COLUMNS = 3
_COUNTS = re.compile(r"^(n|size|length|count|total)$|^(n|num)_|_size$|samples", re.I)
_FAR_OUT = 1000
_MASK = re.compile(r"mask|valid|keep", re.I)


def samples(training: Training) -> Spot | None:
    """How many samples there are: the number itself where it is known."""
    data = dataset(training)
    if data is None:
        return None
    return _size(training, data) or origin(data)


def _size(training: Training, data: Value) -> Spot | None:
    if isinstance(data, Instance):
        calls = (e for e in training.trace.events if e.value.receiver is data and e.value.kind == "call")
        event = next(calls, None)
        keywords = event.value.keywords if event is not None else {}
        arguments = [
            *(event.value.args[:1] if event else []),
            *(keywords[n] for n in keywords if _COUNTS.match(n)),
        ]
        counts = [argument for argument in arguments if (number(argument) or 0) > 1]
        return origin(counts[0]) if counts else None
    parts = [part for part in _behind_all(data) if isinstance(part, Made)]
    counts = [count for part in parts if part.short in _DRAWS and (count := _count(part)) is not None]
    cut = next((part for part in parts if _slice_length(part) is not None), None)
    whole = number(counts[0]) if counts else None
    if cut is not None and (whole is None or 2 * (_slice_length(cut) or 0) < whole):
        return made_at(training, cut) or cut.spot
    return origin(counts[0]) if counts else None


def _behind_all(value: Value, limit: int = 200) -> list[Value]:
    """What a value was made of, the nearest first."""
    values = [value]
    for source in values:
        values += [] if isinstance(source, Instance) or len(values) > limit else parents(source)[:3]
    return values


def _slice_length(value: Made) -> int | None:
    """How many the first so many of something are: `x[:40]`."""
    node = value.spot.node if value.kind == "item" and value.spot is not None else None
    part = node.slice if isinstance(node, ast.Subscript) else None
    upper = part.upper if isinstance(part, ast.Slice) and part.lower is None else None
    upper_value = upper.value if isinstance(upper, ast.Constant) else None
    return upper_value if isinstance(upper_value, int) else None


def _count(draw: Made) -> Value | None:
    """The first length of a draw."""
    shapes = [draw.keywords[name] for name in ("size", "n_samples") if name in draw.keywords]
    for value in [*shapes, *draw.args]:
        first = value.items[0] if isinstance(value, ListValue) and value.items else value
        if (number(first) or 0) > 8:
            return first
    return None


def mask(training: Training) -> Spot | None:
    """Where targets are marked to be ignored."""
    ignored = {number(loss.setup.keywords.get("ignore_index")) for loss in training.losses} - {None} or {
        -100.0
    }
    for binding in training.trace.bindings:
        stored = isinstance(binding.owner, Made | Either | Unknown)
        if stored and number(binding.value) in ignored:
            return binding.spot
    for event in training.trace.events:
        arguments = [*event.value.args, *event.value.keywords.values()]
        if event.value.short in _FILLS and any(
            number(unwrapped(argument)) in ignored for argument in arguments
        ):
            return event.spot
    bindings = training.trace.bindings
    return first(b for b in bindings if _MASK.search(b.name) and not isinstance(b.value, Const))


def leak(training: Training) -> Spot | None:
    """Where the target is put among the inputs."""
    data = dataset(training)
    if not isinstance(data, Made) or data.short != "TensorDataset" or len(data.args) < 2:
        return None
    inputs, target = unwrapped(data.args[0]), unwrapped(data.args[1])
    for binding in training.trace.bindings:
        if binding.owner is inputs and (binding.value is target or _behind(binding.value, target, 60)):
            return binding.spot
    for event in training.trace.events:
        if (
            event.value.short in _JOINS
            and _behind(event.value, target, 60)
            and _behind(data.args[0], event.value, 60)
        ):
            return made_at(training, event.value) or event.spot
    return None


def spoiled(training: Training) -> Spot | None:
    """Where single inputs are overwritten with what is no number, or far larger than the rest."""
    overwritten = (
        b for b in training.trace.bindings if b.name == "[]" and isinstance(b.owner, Made | Either)
    )
    return first(b for b in overwritten if _no_number(b.value))


def _no_number(value: Value) -> bool:
    if isinstance(value, Made) and value.kind == "operator" and value.name == "Mult":
        return any(abs(number(factor) or 0) >= _FAR_OUT for factor in value.args)
    plain = number(value)
    return getattr(value, "name", "").endswith((".nan", ".inf")) or (
        plain is not None and not abs(plain) < _FAR_OUT
    )


def _behind(value: Value, source: Value, limit: int) -> bool:
    """Whether a value was made of another one."""
    return any(at is source for at in upstream(parents(value), _made_of, limit))


def _made_of(value: Value) -> list[Value]:
    return [] if isinstance(value, Instance) else parents(value)


def val_transform(training: Training) -> Spot | None:
    """What validation data are put through where training data are put through something else."""
    train_data, val_data = dataset(training), validated(training)
    train_arguments, val_arguments = _arguments(training, train_data), _arguments(training, val_data)
    for name, value in val_arguments.items():
        twin = train_arguments.get(name)
        if twin is not value and _transforms(value):
            return made_at(training, value) or value.spot
    return None


def val_inputs(training: Training) -> Spot | None:
    """What the model is given where it is not trained."""
    ours, loops = held(training), {iteration.loop for iteration in training.iterations}
    for event in training.trace.events:
        is_model_call = event.value.kind == "apply" and id(event.value.receiver) in ours and event.value.args
        if is_model_call and event.grad_off and not loops & set(event.loops):
            inputs = event.value.args[0]
            return made_at(training, inputs) or inputs.spot
    return None


def _arguments(training: Training, data: Value | None) -> dict[str | int, Value]:
    call = data if isinstance(data, Made) and data.kind == "call" else None
    for event in training.trace.events:
        if (
            call is None
            and isinstance(data, Instance)
            and event.value.receiver is data
            and event.value.kind == "call"
        ):
            call = event.value
    if call is None:
        return {}
    arguments: dict[str | int, Value] = dict(enumerate(call.args))
    arguments.update(call.keywords)
    return arguments


def _transforms(value: Value) -> bool:
    return isinstance(value, Function) or (
        isinstance(value, Made)
        and value.kind == "call"
        and ("transforms" in value.name or value.short == "Compose")
    )


def columns(training: Training) -> Spot | None:
    """The list of the columns that are taken for features; of several the last, made of the others."""
    listed = [
        b.spot
        for b in training.trace.bindings
        if _COLUMNS.match(b.name)
        and (_of_table(b.spot.node) or (isinstance(b.value, ListValue) and _are_names(b.value)))
    ]
    return listed[-1] if listed else None


def _of_table(node: ast.AST) -> bool:
    """Whether names are chosen from all that a table has."""
    return any(isinstance(inner, ast.Attribute) and inner.attr == "columns" for inner in ast.walk(node))


def _are_names(listed: ListValue) -> bool:
    names = [item for item in listed.items if isinstance(item, Const)]
    return len(names) >= _FEW_COLUMNS and all(isinstance(name.value, str) for name in names)
