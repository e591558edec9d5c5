"""What reaches the model and the loss: statistics of inputs and targets, repeated batches, shapes."""

from __future__ import annotations

import hashlib
from math import inf, sqrt

import numpy as np
import numpy.typing as npt

from traindx.observe.arrays import (
    Tensor,
    Values,
    channels_second,
    evenly,
    host,
    is_real,
    limits,
    readable,
)
from traindx.observe.data.colour_planes import line_evenness
from traindx.observe.data.targets import counts_of, target_statistics, targets_sample

_ROWS, _FEATURES, _ELEMENTS = 32, 128, 4096
_FEW_ROWS = 8
_FEATURES_FIRST, _FEATURES_EVERY = 4, 8
_PRINTED = 1024
_CLASSES = 1000
_REMEMBERED = 100_000


def input_statistics(tensor: Tensor) -> dict[str, float | None]:
    """A batch by a sample of it. Features are columns; in images, points vary and channels have a scale."""
    data = readable(tensor)
    return {} if data is None else _statistics(data, _sample(data), by_feature=True)


def _sample(data: Tensor) -> Values:
    """The elements that are sampled: (rows, channels, points) of real numbers, any shape of whole ones."""
    if is_real(data):
        return _rows_and_features(data)
    return host(evenly(data, limits(data.shape, _ELEMENTS)))


def _statistics(data: Tensor, sample: Values, *, by_feature: bool) -> dict[str, float | None]:
    if not is_real(data):
        return _whole_numbers(sample)
    with np.errstate(all="ignore"):
        return _real_numbers(sample, data.shape[0] if data.ndim > 1 else 0, by_feature)


def _rows_and_features(data: Tensor) -> Values:
    """A sample as (rows, channels, points): rows vary over the batch, and in sequences over time."""
    if data.ndim == 1:
        return host(evenly(data, (_ELEMENTS,)))[:, None, None]
    if data.ndim == 2:
        return host(evenly(data, (_ROWS, _FEATURES)))[:, :, None]
    if data.ndim == 3:
        sample = host(evenly(data, (_ROWS, max(1, _ROWS // data.shape[0]), _FEATURES)))
        return sample.reshape(-1, sample.shape[-1], 1)
    last = data.shape[1] not in (1, 3, 4) and data.shape[-1] in (1, 3, 4)
    data = channels_second(data) if last else data
    channels = min(data.shape[1], _FEATURES)
    along = max(1, int((_FEATURES / channels) ** (1 / (data.ndim - 2))))
    sample = host(evenly(data, (_ROWS, channels, *(along for _ in data.shape[2:]))))
    return sample.reshape(*sample.shape[:2], -1)


def _real_numbers(values: Values, batch: int, by_feature: bool) -> dict[str, float | None]:
    flat = values.reshape(values.shape[0], -1)
    first = float(flat[0, 0])
    # Differences from one of them: small numbers to square.
    apart = flat - flat[0, 0]
    shift = float(np.add.reduce(apart, axis=None)) / flat.size
    square = float(np.vdot(apart, apart)) / flat.size - shift * shift
    statistics: dict[str, float | None] = {"mean": first + shift, "std": sqrt(square) if square > 0 else 0.0}
    statistics |= {"min": float(flat.min()), "max": float(flat.max()), "nonfinite": 0.0}
    if not abs(shift) + square < inf:
        statistics |= _of_the_finite(flat)
    statistics["zero_share"] = 1 - int(np.count_nonzero(flat)) / flat.size
    return (
        statistics | _of_features(flat, values.shape[1]) if by_feature and batch >= _FEW_ROWS else statistics
    )


def _of_features(flat: Values, channels: int) -> dict[str, float | None]:
    """The share of features that do not vary, and how many times wider the widest channel spreads."""
    rows, features = flat.shape
    apart = flat - flat[0]
    centre = np.add.reduce(apart, axis=0) / rows
    squares = np.add.reduce(np.multiply(apart, apart, out=apart), axis=0)
    spreads = squares / rows - centre * centre
    if channels < features:
        means = (centre + flat[0]).reshape(channels, -1)
        spreads = spreads.reshape(channels, -1).mean(1) + means.var(1)
    spreads = spreads[(spreads > 0) & (spreads < inf)]
    return {
        "constant_share": 1 - int(np.count_nonzero(squares)) / features,
        "scale_ratio": sqrt(spreads.max() / spreads.min()) if spreads.size > 1 else None,
    }


def _of_the_finite(flat: Values) -> dict[str, float | None]:
    good = flat[np.isfinite(flat)].astype(np.float64)
    statistics: dict[str, float | None] = {"nonfinite": 1 - good.size / flat.size}
    if good.size:
        statistics |= {
            "mean": float(good.mean()),
            "std": float(good.std()),
            "min": float(good.min()),
            "max": float(good.max()),
        }
    return statistics


def _whole_numbers(values: Values) -> dict[str, float | None]:
    low, high = int(values.min()), int(values.max())
    return {"min": low, "max": high, "distinct": int(np.count_nonzero(counts_of(values, low, high)))}


def _fingerprint(data: Tensor, sample: Values) -> int:
    """A number that is the same for the same batch: of its shape and a fixed sample of its bytes."""
    flat = sample.reshape(-1)
    text = f"{tuple(data.shape)} {data.dtype}".encode() + flat[:: -(-flat.size // _PRINTED)].tobytes()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


class Batches:
    """Keeps track of the data: which batches are repeated, and which classes there are."""

    def __init__(self) -> None:
        self.last_print = 0
        self.restart()

    def restart(self) -> None:
        """Another training begins, perhaps on other data."""
        self._steps: dict[int, int] = {}
        self._batches = 0
        self._again = 0
        self._distance: int | None = None
        self._classes: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    def input(self, tensor: Tensor, step: int) -> dict[str, float | None]:
        """The statistics of a batch, and the share of the batches so far that were repeated."""
        data = readable(tensor)
        if data is None:
            return {}
        sample = _sample(data)
        key = self.last_print = _fingerprint(data, sample)
        self._batches += 1
        if key in self._steps:
            self._again += 1
            distance = max(1, step - self._steps[key])
            self._distance = distance if self._distance is None else min(self._distance, distance)
        if len(self._steps) < _REMEMBERED:
            self._steps[key] = step
        # Features do not change from batch to batch: now and then is enough.
        by_feature = self._batches <= _FEATURES_FIRST or self._batches % _FEATURES_EVERY == 0
        evenness = line_evenness(data) if by_feature and is_real(data) else None
        lines = {} if evenness is None else {"line_evenness": evenness}
        return {**_statistics(data, sample, by_feature=by_feature), **lines, **self.repeats()}

    def repeats(self) -> dict[str, float]:
        """The share of batches seen before, and the fewest steps between a batch and itself."""
        if not self._batches:
            return {}
        statistics: dict[str, float] = {"repeat_share": self._again / self._batches}
        if self._distance is not None:
            statistics["repeat_distance"] = self._distance
        return statistics

    def targets(self, tensor: Tensor) -> dict[str, float | None]:
        """The statistics of a batch of targets; its classes are counted."""
        statistics = target_statistics(tensor)
        data = readable(tensor)
        if data is not None and statistics.get("kind") == "classes":
            values = targets_sample(data)
            self._count(values[(values >= 0) & (values < _CLASSES)])
        return {key: value for key, value in statistics.items() if not isinstance(value, str)}

    def classes(self) -> dict[int, int]:
        """How often each class was among the sampled targets."""
        return {number: int(count) for number, count in enumerate(self._classes) if count}

    def _count(self, values: Values) -> None:
        if values.size:
            counts = np.bincount(values.astype(np.int64))
            grown = np.zeros(max(len(counts), len(self._classes)), np.int64)
            grown[: len(self._classes)] = self._classes
            grown[: len(counts)] += counts
            self._classes = grown
