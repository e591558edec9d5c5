"""One row for each tensor: its size and spread, what in it is not finite, dead or constant."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from traindx.checkup.weights.initial import InitialLaw, initial_law, is_orthogonal, recurrent_law
from traindx.checkup.weights.layer_kinds import fans, layer_of
from traindx.checkup.weights.tensors import Layout, StoredTensor

if TYPE_CHECKING:
    Array = npt.NDArray[Any]

_BLOCK = 1 << 21  # values in work at a time
_SAMPLE = 200_000  # values of a tensor that its distribution is judged by
_SPECTRUM_MOST = 1 << 22
_POWER_STEPS = 12
_LISTED_MOST = 8
MATRICES = ("dense", "conv", "recurrent", "embedding")


def measured(tensor: StoredTensor, kind: str, layout: Layout) -> dict[str, Any]:
    """What is known of a tensor after reading it once."""
    values = tensor.load()
    row: dict[str, Any] = {
        "name": tensor.name,
        "layer": layer_of(tensor.name),
        "kind": kind,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype,
        "size": int(values.size),
        **statistics(values),
        "print": _print(values),
        "storage": tensor.storage,
    }
    if not tensor.dtype.startswith(("float", "bfloat")):
        return row
    if kind == "bias" and values.ndim == 1 and row["zero_share"]:
        row["zeros_at"] = np.flatnonzero(values == 0)[:_LISTED_MOST].tolist()
    if kind in MATRICES and values.size and not row["nonfinite"]:
        row |= _of_matrix(values, kind, layout)
    return row


def statistics(values: Array) -> dict[str, Any]:
    """Norm, mean, spread, ends, share of zeros and what is not finite, block by block."""
    total = squares = 0.0
    low, high = math.inf, -math.inf
    zeros = nans = infs = 0
    for block in _blocks(values):
        finite = block[np.isfinite(block)]
        nans += int(np.isnan(block).sum())
        infs += int(block.size - finite.size)
        if finite.size:
            zeros += int((finite == 0).sum())
            total += float(finite.sum())
            squares += float(np.square(finite).sum())
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    counted = int(values.size) - infs
    mean = total / counted if counted else 0.0
    return {
        "norm": math.sqrt(squares),
        "mean": mean,
        "std": math.sqrt(max(0.0, squares / counted - mean * mean)) if counted else 0.0,
        "min": low if counted else None,
        "max": high if counted else None,
        "zero_share": zeros / counted if counted else 0.0,
        "nonfinite": infs,
        "nan": nans,
    }


def _blocks(values: Array) -> Iterator[npt.NDArray[np.float64]]:
    flat = values.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        yield flat[start : start + _BLOCK].astype(np.float64)


def _of_matrix(values: Array, kind: str, layout: Layout) -> dict[str, Any]:
    """What a weight matrix is besides its numbers: units without weights, its scale, its largest stretch."""
    fan_in, fan_out = fans(values.shape, layout)
    rows = values.reshape(values.shape[0], -1) if layout == "out_first" else _columns_first(values)
    low, high = rows.min(axis=1), rows.max(axis=1)
    flat = low == high
    zero = np.flatnonzero(flat & (low == 0))
    rms = float(np.sqrt(np.mean(np.square(_sample(values), dtype=np.float64))))
    row: dict[str, Any] = {
        "fan_in": fan_in,
        "fan_out": fan_out,
        "rows": int(rows.shape[0]),
        "rows_zero": int(zero.size),
        **({"row_zero": int(zero[0]), "row_zero_last": int(zero[-1])} if zero.size else {}),
        "rows_constant": int((flat & (low != 0)).sum()) if rows.shape[1] > 1 else 0,
        "rows_equal": _equal_rows(rows) if rows.shape[1] > 3 else 0,
        "gain": rms * math.sqrt(fan_in),
    }
    sampled = _sample(values)
    if (sampled == np.round(sampled)).all():
        row["whole_kinds"] = int(np.unique(sampled).size)
    if kind != "embedding":
        law = initial_law(_sample(values), fan_in, fan_out, int(values.size))
        if not law.law and is_orthogonal(rows):
            law = InitialLaw("orthogonal")
        if not law.law and kind == "recurrent" and layout == "out_first":
            law = recurrent_law(values, law)
        row |= {"initial": law.law, "testable": law.decided}
    if rows.size <= _SPECTRUM_MOST:
        row["spectral_norm"] = _spectral_norm(rows.astype(np.float32, copy=False))
        row["rows_alike"] = _rows_alike(rows)
    return row


def _columns_first(values: Array) -> Array:
    moved: Array = np.moveaxis(values, -1, 0)
    return moved.reshape(values.shape[-1], -1)


def _equal_rows(rows: Array) -> int:
    """How many units repeat another one exactly (those without any weight are counted elsewhere)."""
    prints = {bytes(hashlib.blake2b(np.ascontiguousarray(row).tobytes(), digest_size=8).digest())
              for row in rows[:4096] if row.any()}  # fmt: skip
    filled = int(rows[:4096].any(axis=1).sum())
    return filled - len(prints)


def _sample(values: Array) -> npt.NDArray[np.float32]:
    """Evenly spread values of a tensor, all of a small one."""
    flat = values.reshape(-1)
    step = max(1, flat.size // _SAMPLE)
    return flat[::step].astype(np.float32)


def _spectral_norm(rows: npt.NDArray[np.float32]) -> float:
    """The largest singular value, from below, by a few steps of power iteration."""
    vector = np.asarray(np.random.default_rng(0).standard_normal(rows.shape[1]), dtype=np.float32)
    size = 0.0
    for _ in range(_POWER_STEPS):
        image = rows @ vector
        size = float(np.linalg.norm(image)) / max(float(np.linalg.norm(vector)), 1e-30)
        if size == 0 or not math.isfinite(size):
            break
        vector = rows.T @ (image / np.float32(np.linalg.norm(image)))
    return size


def _rows_alike(rows: Array) -> float:
    """How much the rows point in one direction: the mean cosine between two of them."""
    numbers = rows.astype(np.float64)
    lengths = np.linalg.norm(numbers, axis=1)
    filled = lengths > 0
    count = int(filled.sum())
    if count < 2:
        return 0.0
    together = float(np.square((numbers[filled] / lengths[filled, None]).sum(axis=0)).sum())
    return (together - count) / (count * (count - 1))


def _print(values: Array) -> str:
    """Equal for equal contents."""
    return hashlib.blake2b(np.ascontiguousarray(values).data, digest_size=12).hexdigest()
