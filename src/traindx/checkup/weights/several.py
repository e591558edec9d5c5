"""Several checkpoints of one training: what moved between them, how far, and what did not."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from traindx.checkup.weights.measure import MATRICES
from traindx.checkup.weights.tensors import Checkpoint, StoredTensor
from traindx.core.nouns import Unreadable

if TYPE_CHECKING:
    Array = npt.NDArray[Any]

_NUMBER = re.compile(r"\d+")


def steps_of(checkpoints: Sequence[Checkpoint]) -> tuple[str, list[float]]:
    """What they are counted by: their own step or epoch, a number in their names, or their order."""
    for name in ("step", "epoch"):
        counts = [checkpoint.counters.get(name) for checkpoint in checkpoints]
        if all(value is not None for value in counts) and len(set(counts)) == len(counts):
            return name, [float(value) for value in counts if value is not None]
    numbers_in_names = [_NUMBER.findall(os.path.basename(checkpoint.path)) for checkpoint in checkpoints]
    last = [float(numbers[-1]) if numbers else math.nan for numbers in numbers_in_names]
    if len(set(last)) == len(last) and all(map(math.isfinite, last)):
        return "step", last
    return "row", [float(at) for at in range(1, len(checkpoints) + 1)]


def movement(before: Checkpoint, after: Checkpoint, kinds: dict[str, str]) -> list[dict[str, Any]]:
    """One row for each tensor that both hold; raises Unreadable where they have none in common."""
    old_tensors = {tensor.name: tensor for tensor in before.tensors}
    common = [tensor for tensor in after.tensors if tensor.name in old_tensors]
    if not common:
        raise Unreadable(f"{before.path} and {after.path} have no tensor of one name in common")
    return [_moved(old_tensors[tensor.name], tensor, kinds.get(tensor.name, "")) for tensor in common]


def _moved(before: StoredTensor, after: StoredTensor, kind: str) -> dict[str, Any]:
    row: dict[str, Any] = {"name": after.name, "kind": kind, "matrix": kind in MATRICES}
    if before.shape != after.shape:
        return {**row, "shapes": [list(before.shape), list(after.shape)]}
    old, new = (np.asarray(tensor.load(), dtype=np.float64).reshape(-1) for tensor in (before, after))
    old_norm, new_norm = float(np.linalg.norm(old)), float(np.linalg.norm(new))
    change = float(np.linalg.norm(new - old))
    norm_product = old_norm * new_norm
    return {
        **row,
        "norm_before": old_norm,
        "norm_after": new_norm,
        "change": change / old_norm if old_norm else (0.0 if not change else math.inf),
        "cosine": float(old @ new) / norm_product if norm_product and math.isfinite(norm_product) else None,
        "largest": float(np.abs(new - old).max()) if new.size else 0.0,
        "equal": bool(np.array_equal(old, new, equal_nan=True)),
        **({"rows": after.shape[0], "rows_still": _still(old, new, after.shape)} if kind in MATRICES else {}),
    }


def _still(old: Array, new: Array, shape: tuple[int, ...]) -> int:
    """How many units have exactly the weights they had."""
    return int((old.reshape(shape[0], -1) == new.reshape(shape[0], -1)).all(1).sum())
