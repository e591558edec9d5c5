"""Calls of `fit`: their arguments as settings, and the numbers of each epoch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.observe.keras.tensors import host

if TYPE_CHECKING:
    from traindx.observe.keras.process import KerasTraining

_DEFAULT_BATCH = 32
_ROWS = 64
_GROUPS = 8
_TRAINING_CHUNKS, _VALIDATION_CHUNKS = 400, 60
_OURS = ("History", "ProgbarLogger")


class Fits:
    """What `fit` is given and what it reports."""

    def __init__(self, training: KerasTraining) -> None:
        self.training = training
        self.recorder = training.recorder

    def begins(self, arguments: dict[str, Any]) -> None:
        """`fit` is called with these arguments."""
        recorder = self.recorder
        x: Any = arguments.get("x")
        batch = arguments.get("batch_size")
        loader: dict[str, object] = {"role": "training", "dataset": type(x).__name__, "workers": 0}
        if isinstance(getattr(x, "shape", None), tuple) and len(x.shape):
            size = len(x)
            split = float(arguments.get("validation_split") or 0.0)
            samples = size - int(size * split) if split else size
            batch = batch or _DEFAULT_BATCH
            loader |= {
                "samples": samples,
                "batches": -(-samples // batch),
                "shuffle": bool(arguments.get("shuffle", True)),
            }
            recorder.setting("train_samples", samples)
            if split:
                recorder.setting("validation_split", split)
        else:
            steps = arguments.get("steps_per_epoch") or _batches(x)
            if steps:
                loader["batches"] = steps
            batch = batch or _batch_size(x)
        if batch:
            loader["batch_size"] = int(batch)
            recorder.setting("batch_size", int(batch))
        recorder.fact("loaders", [loader])
        if arguments.get("epochs"):
            recorder.setting("epochs", int(arguments["epochs"]))
        self._samples(x, arguments)
        weights = arguments.get("class_weight")
        if isinstance(weights, dict):
            recorder.setting(
                "class_weight", ", ".join(f"{key}: {weight:g}" for key, weight in list(weights.items())[:20])
            )

    def _samples(self, x: Any, arguments: dict[str, Any]) -> None:
        """Arrays are here as a whole: which samples are trained on, which only judged."""
        samples = self.training.steps.batches.samples
        validation = arguments.get("validation_data")
        held_out = validation[0] if isinstance(validation, tuple | list) and validation else None
        split = float(arguments.get("validation_split") or 0.0)
        if isinstance(x, np.ndarray) and split and held_out is None:
            at = int(len(x) * (1 - split))
            x, held_out = x[:at], x[at:]
        if (
            not self.recorder.internals
            or not isinstance(x, np.ndarray)
            or not isinstance(held_out, np.ndarray)
        ):
            return
        for part in _chunks(x, _TRAINING_CHUNKS):
            samples.note_trained(part, _every_feature(part))
        for part in _chunks(held_out, _VALIDATION_CHUNKS):
            samples.evaluated(part, None, _every_feature(part))

    def trains(self, callbacks: list[Any]) -> None:
        """Training begins with these callbacks."""
        facts = [_callback(callback) for callback in callbacks if type(callback).__name__ not in _OURS]
        if facts:
            self.recorder.fact("callbacks", facts)

    def epoch(self, logs: dict[str, Any]) -> None:
        """An epoch ended. The mean loss over it is left out: the loss of each step is there."""
        flat = {name: metric for key, value in logs.items() for name, metric in _flat_metrics(key, value)}
        numbers = {
            name: float(number)
            for name, value in flat.items()
            if name not in ("loss", "learning_rate", "lr") and (number := host(value)).size == 1
        }
        if numbers:
            self.recorder.log(numbers)
        self.training.steps.paused()


def _flat_metrics(name: str, value: Any) -> list[tuple[str, Any]]:
    """A number of the logs; an own step may give those of all metrics as one mapping."""
    if not isinstance(value, dict):
        return [(name, value)]
    side = "val_" if name.startswith("val_") else ""
    return [(f"{side}{inner}", metric) for inner, metric in value.items() if not isinstance(metric, dict)]


def _chunks(array: Any, limit: int) -> Iterator[Any]:
    """Whole batches of so many rows, evenly over the array."""
    count = max(1, len(array) // _ROWS)
    for number in range(0, count, -(-count // limit)):
        yield array[number * _ROWS : (number + 1) * _ROWS]


def _every_feature(part: Any) -> tuple[Any, ...]:
    """All of the features, in groups of which none is left out: sparse rows are alike in a few of them."""
    flat = part.reshape(len(part), -1)
    groups = min(_GROUPS, -(-flat.shape[1] // _ROWS))
    return tuple(flat[:, number::groups] for number in range(groups)) if groups > 1 else ()


def _batches(data: Any) -> int | None:
    """How many batches a dataset says it has, where asking costs nothing."""
    try:
        count = len(data)
    except Exception:  # code of the user's, or a dataset that does not know
        return None
    return count if 0 < count < 1 << 40 else None


def _batch_size(data: Any) -> int | None:
    size = getattr(data, "batch_size", None)
    if isinstance(size, int):
        return size
    inner: Any = data
    for _ in range(12):  # prefetch, repeat, map and others around the batches
        size = getattr(inner, "_batch_size", None)
        if size is not None:
            return int(size)
        inner = getattr(inner, "_input_dataset", None)
        if inner is None:
            break
    return None


def _callback(callback: Any) -> dict[str, object]:
    facts: dict[str, object] = {"class": type(callback).__name__}
    for key, value in vars(callback).items():
        if not key.startswith("_") and isinstance(value, str | int | float | bool):
            facts[key] = value
    return dict(list(facts.items())[:20])
