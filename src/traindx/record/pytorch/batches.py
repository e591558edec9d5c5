"""What reaches the model and the loss: statistics of inputs and targets, repeated batches, shapes."""

from __future__ import annotations

import hashlib
from math import inf, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from traindx.record.pytorch.sampling import evenly, plain

Values = npt.NDArray[Any]

_ROWS, _FEATURES, _ELEMENTS = 32, 256, 8192
_FEW_ROWS = 8
_FEATURES_FIRST, _FEATURES_EVERY = 4, 8
_PRINTED = 1024
_TARGETS = 8192
_CLASSES = 1000
_REMEMBERED = 100_000
_NEAR = 100_000
IGNORED = -100


def input_statistics(tensor: torch.Tensor) -> dict[str, float | None]:
    """A batch by a sample of it. Features are columns; in images, points vary and channels have a scale."""
    data = _readable(tensor)
    return {} if data is None else _statistics(data, _sample(data), by_feature=True)


def _sample(data: torch.Tensor) -> Values:
    """The elements that are looked at: (rows, channels, points) of real numbers, any shape of whole ones."""
    if data.is_floating_point():
        return _rows_and_features(data)
    return _host(evenly(data, _limits(data.shape, _ELEMENTS)))


def _statistics(data: torch.Tensor, sample: Values, *, by_feature: bool) -> dict[str, float | None]:
    if not data.is_floating_point():
        return _whole_numbers(sample)
    with np.errstate(all="ignore"):
        return _real_numbers(sample, data.shape[0] if data.dim() > 1 else 0, by_feature)


def _rows_and_features(data: torch.Tensor) -> Values:
    """A sample as (rows, channels, points): rows vary over the batch, and in sequences over time."""
    if data.dim() == 1:
        return _host(evenly(data, (_ELEMENTS,)))[:, None, None]
    if data.dim() == 2:
        return _host(evenly(data, (_ROWS, _FEATURES)))[:, :, None]
    if data.dim() == 3:
        sample = _host(evenly(data, (_ROWS, max(1, _ROWS // data.shape[0]), _FEATURES)))
        return sample.reshape(-1, sample.shape[-1], 1)
    last = data.shape[1] not in (1, 3, 4) and data.shape[-1] in (1, 3, 4)
    data = data.movedim(-1, 1) if last else data
    channels = min(data.shape[1], _FEATURES)
    along = max(1, int((_FEATURES / channels) ** (1 / (data.dim() - 2))))
    sample = _host(evenly(data, (_ROWS, channels, *(along for _ in data.shape[2:]))))
    return sample.reshape(*sample.shape[:2], -1)


def _real_numbers(values: Values, batch: int, by_feature: bool) -> dict[str, float | None]:
    flat = values.reshape(values.shape[0], -1)
    first = float(flat[0, 0])
    # Differences from one of them: small numbers to square.
    apart = flat - flat[0, 0]
    shift = float(np.add.reduce(apart, axis=None)) / flat.size
    square = float(np.vdot(apart, apart)) / flat.size - shift * shift
    told: dict[str, float | None] = {"mean": first + shift, "std": sqrt(square) if square > 0 else 0.0}
    told |= {"min": float(flat.min()), "max": float(flat.max()), "nonfinite": 0.0}
    if not abs(shift) + square < inf:
        told |= _of_the_finite(flat)
    told["zero_share"] = 1 - int(np.count_nonzero(flat)) / flat.size
    return told | _of_features(flat, values.shape[1]) if by_feature and batch >= _FEW_ROWS else told


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
    told: dict[str, float | None] = {"nonfinite": 1 - good.size / flat.size}
    if good.size:
        told |= {
            "mean": float(good.mean()),
            "std": float(good.std()),
            "min": float(good.min()),
            "max": float(good.max()),
        }
    return told


def _whole_numbers(values: Values) -> dict[str, float | None]:
    low, high = int(values.min()), int(values.max())
    return {"min": low, "max": high, "distinct": int(np.count_nonzero(_counts(values, low, high)))}


def _counts(values: Values, low: int, high: int) -> Values:
    """How often each value is there."""
    if high - low < _NEAR:
        return np.bincount(values.reshape(-1).astype(np.int64) - low)
    return np.unique(values, return_counts=True)[1]


def fingerprint(tensor: torch.Tensor) -> int:
    """A number that is the same for the same batch: of its shape and a fixed sample of its bytes."""
    data = _readable(tensor)
    return 0 if data is None else _print(data, _sample(data))


def _print(data: torch.Tensor, sample: Values) -> int:
    flat = sample.reshape(-1)
    said = f"{tuple(data.shape)} {data.dtype}".encode() + flat[:: -(-flat.size // _PRINTED)].tobytes()
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "little")


class Batches:
    """Remembers what it has seen of the data: which batches came again, which classes there are."""

    def __init__(self) -> None:
        self._steps: dict[int, int] = {}
        self._taken = 0
        self._again = 0
        self._distance: int | None = None
        self._classes: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    def input(self, tensor: torch.Tensor, step: int) -> dict[str, float | None]:
        """The statistics of a batch, and how many of the batches noted so far had been there before."""
        data = _readable(tensor)
        if data is None:
            return {}
        sample = _sample(data)
        key = _print(data, sample)
        self._taken += 1
        if key in self._steps:
            self._again += 1
            distance = max(1, step - self._steps[key])
            self._distance = distance if self._distance is None else min(self._distance, distance)
        if len(self._steps) < _REMEMBERED:
            self._steps[key] = step
        # Features do not change from batch to batch: now and then is enough.
        by_feature = self._taken <= _FEATURES_FIRST or self._taken % _FEATURES_EVERY == 0
        return {**_statistics(data, sample, by_feature=by_feature), **self.repeats()}

    def repeats(self) -> dict[str, float]:
        """The share of batches seen before, and the fewest steps between a batch and itself."""
        if not self._taken:
            return {}
        told: dict[str, float] = {"repeat_share": self._again / self._taken}
        if self._distance is not None:
            told["repeat_distance"] = self._distance
        return told

    def targets(self, tensor: torch.Tensor) -> dict[str, float | None]:
        """The statistics of a batch of targets; its classes are counted."""
        told = target_statistics(tensor)
        data = _readable(tensor)
        if data is not None and told.get("kind") == "classes" and not data.is_floating_point():
            values = _host(evenly(data, _limits(data.shape, _TARGETS))).reshape(-1)
            self._count(values[(values >= 0) & (values < _CLASSES)])
        return {key: value for key, value in told.items() if not isinstance(value, str)}

    def classes(self) -> dict[int, int]:
        """How often each class was among the targets looked at."""
        return {number: int(count) for number, count in enumerate(self._classes) if count}

    def _count(self, values: Values) -> None:
        if values.size:
            counts = np.bincount(values.astype(np.int64))
            grown = np.zeros(max(len(counts), len(self._classes)), np.int64)
            grown[: len(self._classes)] = self._classes
            grown[: len(counts)] += counts
            self._classes = grown


def target_statistics(tensor: torch.Tensor) -> dict[str, Any]:
    """A batch of targets: classes (whole numbers, or only zeros and ones) or real numbers."""
    data = _readable(tensor)
    if data is None:
        return {}
    values = _host(evenly(data, _limits(data.shape, _TARGETS))).reshape(-1)
    with np.errstate(all="ignore"):
        if data.is_floating_point() and not np.isin(values, (0, 1)).all():
            return {"kind": "real"} | _of_real_targets(values)
        return {"kind": "classes"} | _of_classes(values)


def _of_classes(values: Values) -> dict[str, Any]:
    ignored = values == IGNORED
    used = values[~ignored]
    told: dict[str, Any] = {"ignored_share": int(np.count_nonzero(ignored)) / values.size}
    if used.size:
        low, high = int(used.min()), int(used.max())
        counts = _counts(used, low, high)
        told |= {"min": low, "max": high, "distinct": int(np.count_nonzero(counts))}
        told["top_share"] = int(counts.max()) / used.size
    return told


def _of_real_targets(values: Values) -> dict[str, Any]:
    finite = np.isfinite(values)
    good = values[finite]
    told: dict[str, Any] = {"nonfinite": 1 - good.size / values.size}
    if good.size:
        told |= {"min": float(good.min()), "max": float(good.max())}
        told |= {"mean": float(good.mean()), "std": float(good.std())}
    return told


def describe_shapes(output: torch.Tensor, target: torch.Tensor) -> dict[str, object]:
    """The shapes and types that reach a loss, and whether they are stretched to each other without a word."""
    told: dict[str, object] = {
        "output_shape": _text(output.shape),
        "target_shape": _text(target.shape),
        "output_dtype": str(output.dtype).removeprefix("torch."),
        "target_dtype": str(target.dtype).removeprefix("torch."),
    }
    stretched = _stretched(output.shape, target.shape) if target.is_floating_point() else None
    told["broadcasts"] = stretched is not None
    if stretched is not None:
        told["broadcast_shape"] = _text(stretched)
    return told


def _stretched(one: torch.Size, other: torch.Size) -> tuple[int, ...] | None:
    """The shape both become when they differ but fit."""
    if one == other:
        return None
    try:
        return tuple(torch.broadcast_shapes(one, other))  # type: ignore[no-untyped-call]
    except RuntimeError:
        return None


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(str(size) for size in shape) or "scalar"


def _readable(tensor: torch.Tensor) -> torch.Tensor | None:
    data = plain(tensor)
    if data is None or not data.numel():
        return None
    return data.reshape(1) if data.dim() == 0 else data


def _limits(shape: torch.Size, elements: int) -> list[int]:
    """How many places to read along each dimension: the batch first, the rest is shared."""
    limits, left = [], elements
    for axis, size in enumerate(shape):
        share = left if axis == len(shape) - 1 else max(1, round(left ** (1 / (len(shape) - axis))))
        taken = min(size, max(1, share))
        limits.append(taken)
        left = max(1, left // taken)
    return limits


def _host(data: torch.Tensor) -> Values:
    """As an array; numpy knows no half precision of ours."""
    data = data.cpu()
    if data.is_floating_point() and data.dtype.itemsize < 4:
        data = data.float()
    found: Values = data.numpy()
    return found
