"""`.safetensors`: a header in JSON, then the bytes of each tensor. Nothing in it is executed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from traindx.checkup.weights.tensors import DTYPES, Checkpoint, StoredTensor, decoded, part_of, width
from traindx.core import files
from traindx.core.documents import json_of
from traindx.core.nouns import Unreadable

_LARGEST_HEADER = 100 << 20


def read(path: str) -> Checkpoint:
    """The header is read at once, each tensor when it is measured."""
    return Checkpoint(path, "safetensors", list(tensors(path)), files=(path,))


def tensors(path: str) -> Iterator[StoredTensor]:
    with files.opened(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or not 0 < length <= min(size - 8, _LARGEST_HEADER):
            raise Unreadable(f"{path} is no safetensors file, or it is cut off: its header is not complete")
        header = json_of(file.read(length))
        if not isinstance(header, dict):
            raise Unreadable(f"{path} is no safetensors file: its header is no JSON object")
    for name, entry in header.items():
        if name != "__metadata__":
            yield _tensor(path, name, entry, 8 + length, size)


def _tensor(path: str, name: str, entry: Any, start: int, size: int) -> StoredTensor:
    try:
        dtype, (begin, end) = DTYPES[entry["dtype"]], entry["data_offsets"]
        shape = tuple(int(length) for length in entry["shape"])
        is_valid = 0 <= begin <= end and min(shape, default=1) >= 0
        is_valid = is_valid and end - begin == math.prod(shape) * width(dtype)
    except (KeyError, TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise Unreadable(f"{path}: the header's entry for {name} is not valid")
    if start + end > size:
        raise Unreadable(f"{path} is cut off: {name} ends at byte {start + end:,} of {size:,}")
    return StoredTensor(
        name, shape, dtype, partial(_values, path, start + begin, end - begin, dtype, shape), f"{begin}"
    )


def _values(path: str, start: int, size: int, dtype: str, shape: tuple[int, ...]) -> Any:
    return decoded(part_of(path, start, size), dtype, shape)
