"""Lines of the data: loaders, batches, where inputs and targets are made."""

from __future__ import annotations

import re

from traindx.script.anchors_of_loop import main_iteration, origin
from traindx.script.trace import Event
from traindx.script.training import Training
from traindx.script.values import Const, Instance, Items, Made, Spot, Value, number, options

_LOADERS = ("DataLoader", "StatefulDataLoader")
_BATCH = re.compile(r"^(train_?)?(batch_?size|bs|batch|mini_?batch(_?size)?)$", re.IGNORECASE)
_INPUTS = re.compile(
    r"^(x|xs|x_?train|x_?tr|inputs?|images?|features?|data|samples|train_?x|signals?)$", re.IGNORECASE
)
_TARGETS = re.compile(r"^(y|ys|y_?train|y_?tr|targets?|labels?|classes|train_?y)$", re.IGNORECASE)
_COLUMNS = re.compile(r"^(input_|feature_)?(features?|columns|cols|names|predictors)$", re.IGNORECASE)
_FEW_COLUMNS = 3
_SPLITS = ("ConcatDataset", "train_test_split", "random_split", "KFold", "StratifiedKFold")


def _loaders(training: Training) -> list[Event]:
    return [e for e in training.trace.events if e.value.kind == "call" and e.value.short in _LOADERS]


def _iterated(training: Training) -> Made | None:
    """The loader that the training loop runs over."""
    found = main_iteration(training)
    for loop in reversed(found.step.event.loops if found else ()):
        for one in options(loop.over):
            inner = one
            for _ in range(4):
                if isinstance(inner, Made) and inner.kind == "call" and inner.short in _LOADERS:
                    return inner
                inner = inner.args[0] if isinstance(inner, Made) and inner.args else inner
    return None


def train_loader(training: Training) -> Spot | None:
    found = _iterated(training)
    if found is not None:
        return found.spot
    made = _loaders(training)
    if made:
        return made[0].spot
    loop = main_iteration(training)
    return origin(loop.loop.over) if loop is not None and loop.loop.over is not None else None


def val_loader(training: Training) -> Spot | None:
    first = _iterated(training)
    return next((e.spot for e in _loaders(training) if e.value is not first), None)


def batch_size(training: Training) -> Spot | None:
    loader = _iterated(training) or next((e.value for e in _loaders(training)), None)
    if loader is not None:
        given = loader.argument(1, "batch_size")
        return origin(given) or loader.spot
    for event in training.trace.events:
        for name in ("batch_size", "per_device_train_batch_size"):
            if name in event.value.keywords:
                return origin(event.value.keywords[name])
    named = [b for b in training.trace.bindings if _BATCH.match(b.name) and number(b.value) is not None]
    if named:
        return origin(named[0].value)
    return _slice_size(training)


def _slice_size(training: Training) -> Spot | None:
    """The width of slices or random draws that the loop takes."""
    found = main_iteration(training)
    for event in training.trace.events:
        inner = found is not None and (found.loop in event.loops or event.value is found.loop.over)
        if inner and event.value.name in ("range", "torch.randint", "torch.randn", "split"):
            numbers = [one for one in event.value.args if isinstance(one, Const)]
            if numbers:
                return numbers[-1].spot
    return None


def workers(training: Training) -> Spot | None:
    loader = _iterated(training)
    if loader is None:
        return None
    return origin(loader.keywords.get("num_workers")) or loader.spot


def shuffle(training: Training) -> Spot | None:
    loader = _iterated(training)
    if loader is None:
        return train_loader(training)
    return origin(loader.keywords.get("shuffle")) or loader.spot


def inputs(training: Training) -> Spot | None:
    """Where the training inputs are made."""
    return _part(training, 0, _INPUTS)


def targets(training: Training) -> Spot | None:
    """Where the training targets are made."""
    return _part(training, 1, _TARGETS)


def _part(training: Training, at: int, names: re.Pattern[str]) -> Spot | None:
    loader = _iterated(training)
    dataset = next(iter(options(loader.argument(0, "dataset"))), None) if loader is not None else None
    found = _of_dataset(training, dataset, at, names)
    if found is not None:
        return found
    loop = main_iteration(training)
    bound = [b for b in training.trace.bindings if names.match(b.name) and not b.added]
    early = [b for b in bound if loop is None or loop.loop not in b.loops]
    inner = [b for b in bound if b not in early and not _from_loader(b.value)]
    chosen = early or inner
    return chosen[0].spot if chosen else train_loader(training)


def _from_loader(value: Value) -> bool:
    return isinstance(value, Made) and value.kind == "item"


def _of_dataset(training: Training, dataset: Value | None, at: int, names: re.Pattern[str]) -> Spot | None:
    if isinstance(dataset, Made) and dataset.short == "Subset" and dataset.args:
        dataset = next(iter(options(dataset.args[0])), None)
    if isinstance(dataset, Made) and dataset.short == "TensorDataset" and len(dataset.args) > at:
        return _bound_spot(training, dataset.args[at])
    if isinstance(dataset, Instance):
        own = [b for b in training.trace.bindings if b.owner is dataset and names.match(b.name)]
        return own[0].spot if own else dataset.spot
    return None


def _bound_spot(training: Training, value: Value) -> Spot | None:
    """The last assignment of a value, else where it is written."""
    bound = [b.spot for b in training.trace.bindings if b.value is value]
    return bound[0] if bound else origin(value)


def split(training: Training) -> Spot | None:
    found = (e.spot for e in training.trace.events if e.value.short in _SPLITS)
    return next(found, None) or val_loader(training)


def augmentation(training: Training) -> Spot | None:
    """Transforms that change the inputs at random."""
    for event in training.trace.events:
        if event.value.short.startswith(
            ("Random", "ColorJitter", "Gaussian", "AutoAugment", "MixUp", "CutMix")
        ):
            return event.spot
    return None


def samples(training: Training) -> Spot | None:
    """How many samples there are: the dataset of the training loader."""
    loader = _iterated(training)
    dataset = next(iter(options(loader.argument(0, "dataset"))), None) if loader is not None else None
    return origin(dataset) or inputs(training)


def columns(training: Training) -> Spot | None:
    """The list of the columns that are taken for features; of several the last, made of the others."""
    listed = [
        b.spot
        for b in training.trace.bindings
        if _COLUMNS.match(b.name) and isinstance(b.value, Items) and _are_names(b.value)
    ]
    return listed[-1] if listed else None


def _are_names(listed: Items) -> bool:
    known = [one for one in listed.items if isinstance(one, Const)]
    return len(known) >= _FEW_COLUMNS and all(isinstance(one.value, str) for one in known)


def val_transform(training: Training) -> Spot | None:
    """What is done to the validation inputs, where it differs from what is done to those of training."""
    first = _iterated(training)
    others = [e.value for e in _loaders(training) if e.value is not first]
    if first is None or not others:
        return None
    mine, theirs = (_transform(one.argument(0, "dataset")) for one in (first, others[0]))
    return _bound_spot(training, theirs) if theirs is not None and theirs is not mine else None


def _transform(dataset: Value | None) -> Value | None:
    found = next(iter(options(dataset)), None)
    if isinstance(found, Instance):
        return next((v for name, v in found.attributes.items() if "transform" in name.lower()), None)
    return found.keywords.get("transform") if isinstance(found, Made) else None
