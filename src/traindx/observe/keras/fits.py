"""Calls of `fit`: their arguments as settings, and the numbers of each epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from traindx.observe.keras.tensors import host

if TYPE_CHECKING:
    from traindx.observe.keras.process import KerasTraining

_DEFAULT_BATCH = 32
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
        weights = arguments.get("class_weight")
        if isinstance(weights, dict):
            recorder.setting(
                "class_weight", ", ".join(f"{key}: {one:g}" for key, one in list(weights.items())[:20])
            )

    def trains(self, callbacks: list[Any]) -> None:
        """Training begins with these callbacks."""
        shown = [_callback(one) for one in callbacks if type(one).__name__ not in _OURS]
        if shown:
            self.recorder.fact("callbacks", shown)

    def epoch(self, logs: dict[str, Any]) -> None:
        """An epoch ended. The mean loss over it is left out: the loss of each step is there."""
        numbers = {
            name: float(number)
            for name, value in logs.items()
            if name not in ("loss", "learning_rate", "lr") and (number := host(value)).size == 1
        }
        if numbers:
            self.recorder.log(numbers)
        self.training.steps.paused()


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
    shown: dict[str, object] = {"class": type(callback).__name__}
    for key, value in vars(callback).items():
        if not key.startswith("_") and isinstance(value, str | int | float | bool):
            shown[key] = value
    return dict(list(shown.items())[:20])
