"""The loader of the training data: its order, its batch, its workers."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import Maker, value_of
from traindx.experiment.edit.job import Job, at, call_of
from traindx.experiment.edit.new_number import Wanted
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.value_origin import change
from traindx.source.anchors_of_data import iterated
from traindx.source.values import Const, Made, number

# Outside of loops a batch size cuts batches or counts them; inside, anything but the width of a layer.
_LIKE = (
    r"^(DataLoader|StatefulDataLoader|BatchSampler|range|split|len|ceil|floor|randint|randperm|choice|islice"
    r"|batched|chunk|min|max)\.|batch|steps|total|T_max|iters"
)
_IN_LOOPS = r"^(?!(Linear|Conv\dd|LSTM|GRU|RNN|Embedding|LayerNorm|BatchNorm\dd|Transformer\w*)\.)"
_BATCH = re.compile(
    r"^(train_?|per_device_train_)?(batch_?size|bs|batch|mini_?batch(_?size)?)$", re.IGNORECASE
)


def _loader(job: Job) -> Made:
    found = iterated(job.training)
    if found is None:
        loaders = [
            e.value
            for e in job.training.trace.events
            if e.value.kind == "call" and e.value.short in ("DataLoader", "StatefulDataLoader")
        ]
        if len(loaders) != 1:
            raise Uncertain("Which DataLoader the training takes its batches from cannot be told.")
        found = loaders[0]
    return found


def shuffle_data(job: Job, values: Mapping[str, Scalar]) -> str:
    del values
    made = _loader(job)
    source, call = call_of(made)
    if made.open or any(name in made.keywords for name in ("sampler", "batch_sampler")):
        raise Uncertain(
            f"The order of line {call.lineno} comes from its sampler: let that one shuffle.", at(made.spot)
        )
    given = made.argument(2, "shuffle")
    if isinstance(given, Const) and given.value is True:
        raise Uncertain(f"Line {call.lineno} shuffles already.", at(made.spot))
    if isinstance(given, Const) and given.spot is not None and given.value is False:
        inside = any(one is given.spot.node for one in ast.walk(call))
        if not inside:
            raise Uncertain(f"Give `shuffle=True` to the loader of line {call.lineno}.", at(made.spot))
        job.draft.replace(source, given.spot.node, "True")
    elif given is None:
        job.draft.keyword(source, call, "shuffle", "True")
    else:
        raise Uncertain(f"Give `shuffle=True` to the loader of line {call.lineno}.", at(made.spot))
    return f"shuffle=True in the training loader of line {call.lineno}."


def set_workers(job: Job, values: Mapping[str, Scalar]) -> str:
    made = _loader(job)
    wanted = Wanted(value=int(value_of(values, "value")))
    told = change(job, made, "num_workers", 5, wanted, r"workers|^DataLoader\.5$")
    guarded = any("__main__" in source.text for source in job.script.sources[:1])
    return told + ("." if guarded else "; on Windows and macOS the script then needs a main guard.")


def set_batch_size(job: Job, values: Mapping[str, Scalar]) -> str:
    wanted = Wanted(value=int(value_of(values, "value")))
    try:
        made: Made | None = _loader(job)
    except Uncertain:
        made = None
    if made is not None and "batch_sampler" not in made.keywords:
        told = change(job, made, "batch_size", 1, wanted, _LIKE, in_loops=_IN_LOOPS)
        return told + "."
    for event in job.training.trace.events:
        for name in ("per_device_train_batch_size", "batch_size"):
            if name in event.value.keywords and not event.grad_off:
                return change(job, event.value, name, -1, wanted, _LIKE, in_loops=_IN_LOOPS) + "."
    return _named(job, int(value_of(values, "value")))


def _named(job: Job, value: int) -> str:
    """The batch size of a loop that cuts its batches itself: a number that goes by that name."""
    found = {
        id(b.value.spot.node): b.value
        for b in job.training.trace.bindings
        if _BATCH.match(b.name) and number(b.value) is not None and b.value.spot is not None
    }
    recorded = job.facts.get("config", {}) if isinstance(job.facts.get("config"), dict) else {}
    known = recorded.get("batch_size", job.run.settings.get("batch_size") if job.run is not None else None)
    fitting = [one for one in found.values() if known is None or number(one) == known]
    if len(fitting) != 1 or fitting[0].spot is None or not isinstance(fitting[0].spot.node, ast.Constant):
        raise Uncertain(
            f"Take {value} samples per batch where the loop cuts them.", at(job.iteration().loop.spot)
        )
    spot = fitting[0].spot
    assert isinstance(spot.node, ast.Constant)
    if spot.node.value == value:
        raise Uncertain(f"The batch has {value} samples already.", at(spot))
    old = job.draft.text(spot.source, spot.node)
    job.draft.replace(spot.source, spot.node, str(value))
    return f"batch size {old} -> {value} in line {spot.line}."


MAKERS: dict[str, Maker] = {
    "shuffle_data": shuffle_data,
    "set_workers": set_workers,
    "set_batch_size": set_batch_size,
}
