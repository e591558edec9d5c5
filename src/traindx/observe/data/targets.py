"""What reaches the loss: statistics of targets, and the shapes of output and target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traindx.observe.arrays import (
    Tensor,
    Values,
    dtype_name,
    evenly,
    host,
    is_real,
    limits,
    readable,
    shape_text,
)

IGNORED = -100
_TARGETS = 4096
_NEAR = 100_000


def target_statistics(tensor: Tensor) -> dict[str, Any]:
    """A batch of targets: classes (whole numbers, or only zeros and ones) or real numbers."""
    data = readable(tensor)
    if data is None:
        return {}
    values = targets_sample(data)
    with np.errstate(all="ignore"):
        if is_real(data) and not np.isin(values, (0, 1)).all():
            return {"kind": "real"} | _of_real_targets(values)
        return {"kind": "classes"} | _of_classes(values)


def _of_classes(values: Values) -> dict[str, Any]:
    ignored = values == IGNORED
    used = values[~ignored]
    statistics: dict[str, Any] = {"ignored_share": int(np.count_nonzero(ignored)) / values.size}
    if used.size:
        low, high = int(used.min()), int(used.max())
        counts = counts_of(used, low, high)
        statistics |= {"min": low, "max": high, "distinct": int(np.count_nonzero(counts))}
        statistics["top_share"] = int(counts.max()) / used.size
    return statistics


def _of_real_targets(values: Values) -> dict[str, Any]:
    finite = np.isfinite(values)
    good = values[finite]
    statistics: dict[str, Any] = {"nonfinite": 1 - good.size / values.size}
    if good.size:
        statistics |= {"min": float(good.min()), "max": float(good.max())}
        statistics |= {"mean": float(good.mean()), "std": float(good.std())}
        if bool((good == np.rint(good)).all()):
            statistics["distinct"] = int(np.unique(good).size)
    return statistics


def describe_shapes(output: Tensor, target: Tensor) -> dict[str, object]:
    """The shapes and types that reach a loss, and whether they are stretched to each other without a word."""
    statistics: dict[str, object] = {
        "output_shape": shape_text(output.shape),
        "target_shape": shape_text(target.shape),
        "output_dtype": dtype_name(output),
        "target_dtype": dtype_name(target),
    }
    if getattr(target, "requires_grad", False):
        statistics["target_learned"] = True
    stretched = _stretched(output.shape, target.shape) if is_real(target) else None
    statistics["broadcasts"] = stretched is not None
    if stretched is not None:
        statistics["broadcast_shape"] = shape_text(stretched)
    return statistics


def _stretched(output_shape: Sequence[int], target_shape: Sequence[int]) -> tuple[int, ...] | None:
    """The shape both become when they differ but fit."""
    if output_shape == target_shape:
        return None
    try:
        return tuple(np.broadcast_shapes(tuple(output_shape), tuple(target_shape)))
    except ValueError:
        return None


def targets_sample(data: Tensor) -> Values:
    """The targets that are sampled, in a row."""
    return host(evenly(data, limits(data.shape, _TARGETS))).reshape(-1)


def counts_of(values: Values, low: int, high: int) -> Values:
    """How often each value is there."""
    if high - low < _NEAR:
        return np.bincount(values.reshape(-1).astype(np.int64) - low)
    return np.unique(values, return_counts=True)[1]
