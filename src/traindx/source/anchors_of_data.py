"""Lines of the data: loaders, batches, where inputs and targets are made."""

from __future__ import annotations

import re

from traindx.source.anchors_of_loop import first, origin
from traindx.source.execution import CallEvent
from traindx.source.returned import stored
from traindx.source.roles import is_module
from traindx.source.training import Training
from traindx.source.values import Const, Instance, Made, Spot, Unknown, Value, number, options

_LOADERS = ("DataLoader", "StatefulDataLoader")
_BATCH = re.compile(r"^(train_?)?(batch_?size|bs|batch|mini_?batch(_?size)?)$", re.I)
_INPUTS = re.compile(
    r"^(x|xs|x_?train|x_?tr|inputs?|images?|features?|data|samples|train_?x|signals?)$", re.I
)
_TARGETS = re.compile(r"^(y|ys|y_?train|y_?tr|targets?|labels?|classes|train_?y)$", re.I)
_CONVERSIONS = frozenset(
    """
    tensor from_numpy as_tensor FloatTensor LongTensor Tensor asarray float double long int to astype numpy
    type contiguous clone unsqueeze squeeze view reshape flatten cuda cpu copy values to_numpy
    """.split()
)
_AUGMENTATIONS = ("Random", "ColorJitter", "Gaussian", "AutoAugment", "MixUp", "CutMix")
_SPLITS = ("ConcatDataset", "train_test_split", "random_split", "KFold", "StratifiedKFold")


def _loaders(training: Training) -> list[CallEvent]:
    return [e for e in training.trace.calls if e.value.short in _LOADERS]


def iterated(training: Training) -> Made | None:
    """The loader that the training loop runs over."""
    for loop in reversed(training.main.step.event.loops if training.main else ()):
        for over in options(loop.over):
            inner = over
            for _ in range(4):
                if isinstance(inner, Made) and inner.kind == "call" and inner.short in _LOADERS:
                    return inner
                inner = inner.args[0] if isinstance(inner, Made) and inner.args else inner
    return None


_TF_DATA = ("from_tensor_slices", "from_generator", "timeseries_dataset_from_array")


def train_loader(training: Training) -> Spot | None:
    loader = iterated(training)
    if loader is not None:
        return loader.spot
    loaders = _loaders(training)
    if loaders:
        return loaders[0].spot
    if training.main is not None:
        return origin(training.main.loop.over)
    return first(e for e in training.trace.events if e.value.short in _TF_DATA)


def val_loader(training: Training) -> Spot | None:
    trained_on = iterated(training)
    return first(e for e in _loaders(training) if e.value is not trained_on)


def batch_size(training: Training) -> Spot | None:
    loader = iterated(training) or next((e.value for e in _loaders(training)), None)
    if loader is not None:
        size = loader.argument(1, "batch_size")
        return origin(size) or loader.spot
    for event in training.trace.events:
        for name in ("batch_size", "per_device_train_batch_size"):
            if name in event.value.keywords:
                return origin(event.value.keywords[name])
    sizes = [b for b in training.trace.bindings if _BATCH.match(b.name) and number(b.value) is not None]
    if sizes:
        return origin(sizes[0].value)
    return _slice_size(training)


def _slice_size(training: Training) -> Spot | None:
    """The width of slices or random draws that the loop takes."""
    main = training.main
    for event in training.trace.events:
        inner = main is not None and (main.loop in event.loops or event.value is main.loop.over)
        if inner and event.value.name in ("range", "torch.randint", "torch.randn", "split"):
            numbers = [argument for argument in event.value.args if isinstance(argument, Const)]
            if numbers:
                return numbers[-1].spot
    return None


def workers(training: Training) -> Spot | None:
    loader = iterated(training)
    if loader is None:
        return None
    return origin(loader.keywords.get("num_workers")) or loader.spot


def shuffle(training: Training) -> Spot | None:
    loader = iterated(training)
    if loader is None:
        return train_loader(training)
    return origin(loader.keywords.get("shuffle")) or loader.spot


def inputs(training: Training) -> Spot | None:
    """Where the training inputs are made."""
    return _model_rows(training) or _part(training, 0, _INPUTS)


def _model_rows(training: Training) -> Spot | None:
    """Where that is bound of which the training loop, without a loader, gives rows to a model."""
    if training.main is None or iterated(training) is not None:
        return None
    first_backward = training.main.backwards[0].at
    for event in training.trace.events:
        call = event.value
        if (
            call.kind != "apply"
            or not call.args
            or not training.in_main_loop(event)
            or event.at > first_backward
        ):
            continue
        rows = call.args[0]
        whole = rows.receiver if isinstance(rows, Made) and rows.kind == "item" else None
        if whole is not None and is_module(call.receiver) and not event.grad_off:
            return _bound_spot(training, whole)
    return None


def targets(training: Training) -> Spot | None:
    """Where the training targets are made."""
    return _part(training, 1, _TARGETS)


def _part(training: Training, at: int, names: re.Pattern[str]) -> Spot | None:
    loader = iterated(training)
    dataset = next(iter(options(loader.argument(0, "dataset"))), None) if loader is not None else None
    spot = _of_dataset(training, dataset, at, names)
    if spot is not None:
        return spot
    bound = [b for b in training.trace.bindings if names.match(b.name) and not b.added]
    early = [b for b in bound if not training.in_main_loop(b)]
    inner = [b for b in bound if b not in early and not _from_loader(b.value)]
    bindings = early or inner
    if not bindings:
        return train_loader(training)
    return _bound_spot(training, bindings[0].value) or bindings[0].spot


def _from_loader(value: Value) -> bool:
    return isinstance(value, Made) and value.kind == "item"


def _of_dataset(training: Training, dataset: Value | None, at: int, names: re.Pattern[str]) -> Spot | None:
    if isinstance(dataset, Made) and dataset.short == "Subset" and dataset.args:
        dataset = next(iter(options(dataset.args[0])), None)
    if isinstance(dataset, Made) and dataset.short == "TensorDataset" and len(dataset.args) > at:
        return _bound_spot(training, dataset.args[at])
    if isinstance(dataset, Instance):
        bindings = [b for b in training.trace.bindings if b.owner is dataset]
        attribute = stored(dataset, at)
        attribute_bindings = [b for b in bindings if b.name == attribute] or [
            b for b in bindings if names.match(b.name)
        ]
        return attribute_bindings[0].spot if attribute_bindings else dataset.spot
    return None


def dataset(training: Training) -> Value | None:
    """The data set of the training loader, before it was divided."""
    loader = iterated(training)
    data = next(iter(options(loader.argument(0, "dataset"))), None) if loader is not None else None
    return _undivided(data)


def validated(training: Training) -> Value | None:
    """The data set of the first other loader."""
    trained_on = iterated(training)
    held_out = next((e.value for e in _loaders(training) if e.value is not trained_on), None)
    return next(iter(options(held_out.argument(0, "dataset"))), None) if held_out is not None else None


def _undivided(value: Value | None) -> Value | None:
    """The whole of which `random_split` gave a part."""
    inner = value.receiver if isinstance(value, Made) and value.kind == "item" else None
    if isinstance(inner, Made) and inner.short == "random_split" and inner.args:
        return inner.args[0]
    return value


def unwrapped(value: Value) -> Value:
    """What a value is before casts, views and stretches of it."""
    for _ in range(20):
        if not isinstance(value, Made):
            return value
        inner: Value | None = None
        if (
            value.kind == "item"
            and any(isinstance(key, Unknown) and key.name == "slice" for key in value.args)
        ) or (value.kind in ("method", "attribute") and value.short in _CONVERSIONS):
            inner = value.receiver
        elif value.kind == "call" and value.short in _CONVERSIONS and value.args:
            inner = value.args[0]
        if inner is None:
            return value
        value = inner
    return value


def made_at(training: Training, value: Value) -> Spot | None:
    """The assignment of a value."""
    return first(b for b in training.trace.bindings if b.value is value)


def _bound_spot(training: Training, value: Value) -> Spot | None:
    """The assignment of what a value was before casts and stretches; else of itself."""
    source = unwrapped(value)
    around = first(b for b in training.trace.bindings if _is_cast_of(b.value, source))
    return made_at(training, source) or around or made_at(training, value) or origin(value)


def _is_cast_of(value: Value, inner: Value) -> bool:
    return isinstance(value, Made) and value is not inner and unwrapped(value) is inner


def split(training: Training) -> Spot | None:
    """Where training and validation data are parted."""
    spot = first(e for e in training.trace.events if e.value.short in _SPLITS)
    if spot is not None:
        return spot
    data = validated(training)
    if isinstance(data, Made) and data.short == "Subset":
        return made_at(training, data) or data.spot
    if isinstance(data, Made) and data.short == "TensorDataset" and data.args:
        return made_at(training, data.args[0]) or data.args[0].spot or val_loader(training)
    return val_loader(training)


def augmentation(training: Training) -> Spot | None:
    """Transforms that change the inputs at random."""
    return first(e for e in training.trace.events if e.value.short.startswith(_AUGMENTATIONS))
