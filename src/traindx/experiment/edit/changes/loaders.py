"""The loader of the training data: its order, its batch, its workers."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import value_of
from traindx.experiment.edit.job import Job, call_of, once
from traindx.experiment.edit.keras import uses_keras
from traindx.experiment.edit.new_number import NewNumber
from traindx.experiment.edit.nodes import receiver
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.trainers import set_in_trainer
from traindx.experiment.edit.value_origin import change
from traindx.source.anchors_of_data import iterated
from traindx.source.values import Const, Made, number, upstream

# Outside of loops a batch size cuts batches or counts them; inside, anything but the width of a layer.
_LIKE = (
    r"^(DataLoader|StatefulDataLoader|BatchSampler|range|split|len|ceil|floor|randint|randperm|choice|islice"
    r"|batched|chunk|min|max)\.|batch|steps|total|T_max|iters"
)
_IN_LOOPS = r"^(?!(Linear|Conv\dd|LSTM|GRU|RNN|Embedding|LayerNorm|BatchNorm\dd|Transformer\w*)\.)"
_BATCH_OF_FIT = 32
_BATCH = re.compile(
    r"^(train_?|per_device_train_)?(batch_?size|bs|batch|mini_?batch(_?size)?)$", re.IGNORECASE
)


def _loader(job: Job) -> Made:
    loader = iterated(job.training)
    loaders = [loader] if loader is not None else job.loaders()
    if len(loaders) != 1:
        raise Uncertain("Which DataLoader the training iterates over is not clear from the script.")
    return loaders[0]


def shuffle_data(job: Job) -> str:
    if uses_keras(job):
        return _in_keras(job)
    loader = _loader(job)
    call = call_of(loader)
    if loader.open or any(name in loader.keywords for name in ("sampler", "batch_sampler")):
        raise Uncertain(
            f"The order of line {call.lineno} comes from its sampler: shuffle there.", loader.spot
        )
    shuffle = loader.argument(2, "shuffle")
    value = shuffle.value if isinstance(shuffle, Const) else None
    if value is True:
        raise Uncertain(f"Line {call.lineno} shuffles already.", loader.spot)
    if shuffle is None:
        job.draft.keyword(call, "shuffle", "True")
    elif value is False and shuffle.spot is not None and shuffle.spot.node in ast.walk(call):
        job.draft.replace(shuffle.spot.node, "True")
    else:
        raise Uncertain(f"Give `shuffle=True` to the loader of line {call.lineno}.", loader.spot)
    return f"shuffle=True in the training loader of line {call.lineno}."


def _in_keras(job: Job) -> str:
    """`shuffle=True` where a fit turns it off; a pipeline of tf.data is shuffled before it is batched."""
    for event in (
        e for e in job.training.trace.methods("fit") if isinstance(e.value.keywords.get("shuffle"), Const)
    ):
        call = call_of(event.value)
        job.draft.keyword(call, "shuffle", "True")
        return f"shuffle=True in the fit of line {call.lineno}."
    for event in job.training.trace.methods("batch"):
        chain = list(upstream([event.value]))
        kinds = {value.short for value in chain if isinstance(value, Made)}
        call = call_of(event.value)
        data = receiver(call)
        if "from_tensor_slices" in kinds and "shuffle" not in kinds and data is not None:
            job.draft.wrap(data, "", ".shuffle(10_000)")
            return f"shuffle(10_000) before the batches of line {call.lineno}."
    raise Uncertain("The data is shuffled already, or it is not clear where it is batched.")


def set_workers(job: Job, values: Mapping[str, Scalar]) -> str:
    new_number = NewNumber(value=int(value_of(values, "value")))
    if not job.loaders() and (description := set_in_trainer(job, "workers", new_number)):
        return description
    loader = _loader(job)
    description = change(job, loader, "num_workers", 5, new_number, r"workers|^DataLoader\.5$")
    guarded = any("__main__" in source.text for source in job.script.sources[:1])
    return description + ("." if guarded else "; on Windows and macOS the script then needs a main guard.")


def set_batch_size(job: Job, values: Mapping[str, Scalar]) -> str:
    new_number = NewNumber(value=int(value_of(values, "value")))
    if uses_keras(job):
        return _batches_in_keras(job, new_number)
    try:
        loader: Made | None = _loader(job)
    except Uncertain:
        loader = None
    if loader is not None and "batch_sampler" not in loader.keywords:
        return change(job, loader, "batch_size", 1, new_number, _LIKE, in_loops=_IN_LOOPS) + "."
    for event in job.training.trace.events:
        for name in ("per_device_train_batch_size", "batch_size"):
            if name in event.value.keywords and not event.grad_off:
                return change(job, event.value, name, -1, new_number, _LIKE, in_loops=_IN_LOOPS) + "."
    return set_in_trainer(job, "batch_size", new_number) or _set_named_size(
        job, int(value_of(values, "value"))
    )


def _batches_in_keras(job: Job, new_number: NewNumber) -> str:
    """The argument of `fit`, 32 where it is not given; of a pipeline of tf.data its `batch`."""
    trained = [e.value for e in job.training.trace.methods("fit") if e.value.argument(1, "y") is not None]
    if trained:
        return (
            "; ".join(change(job, fit, "batch_size", 2, new_number, _LIKE, _BATCH_OF_FIT) for fit in trained)
            + "."
        )
    batches = [e.value for e in once(job.training.trace.methods("batch"))]
    if not batches:
        raise Uncertain(f"Give batches of {new_number.value} samples to fit.")
    return change(job, batches[0], "batch_size", 0, new_number, _LIKE + r"|^batch\.") + "."


def _set_named_size(job: Job, value: int) -> str:
    """The batch size of a loop that cuts its batches itself: a number that goes by that name."""
    sizes = {
        id(b.value.spot.node): b.value
        for b in job.training.trace.bindings
        if _BATCH.match(b.name) and number(b.value) is not None and b.value.spot is not None
    }
    recorded = job.facts.get("config", {}) if isinstance(job.facts.get("config"), dict) else {}
    batch_size = recorded.get(
        "batch_size", job.run.settings.get("batch_size") if job.run is not None else None
    )
    fitting = [size for size in sizes.values() if batch_size is None or number(size) == batch_size]
    if len(fitting) != 1 or fitting[0].spot is None or not isinstance(fitting[0].spot.node, ast.Constant):
        raise Uncertain(
            f"Take {value} samples per batch where the loop cuts them.", job.iteration().loop.spot
        )
    spot = fitting[0].spot
    assert isinstance(spot.node, ast.Constant)
    if spot.node.value == value:
        raise Uncertain(f"The batch has {value} samples already.", spot)
    old = job.draft.text(spot.node)
    job.draft.replace(spot.node, str(value))
    return f"batch size {old} -> {value} in line {spot.line}."
