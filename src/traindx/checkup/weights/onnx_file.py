"""`.onnx`: the initialisers of a graph, read from the bytes of its protocol buffer."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from traindx.checkup.weights.tensors import Checkpoint, StoredTensor, decoded, part_of, width
from traindx.core import files
from traindx.core.nouns import Unreadable

# Numbers of ONNX's TensorProto.DataType.
_TYPES = {1: "float32", 2: "uint8", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
          11: "double", 16: "bfloat16"}  # fmt: skip
_GRAPH, _INITIALISER = 7, 5
_DIMS, _TYPE, _FLOATS, _INT64, _NAME, _RAW, _DOUBLES, _EXTERNAL = 1, 2, 4, 7, 8, 9, 10, 13


def read(path: str) -> Checkpoint:
    """Every initialiser of the main graph."""
    with files.opened(path) as file:
        data = memoryview(file.read())
    if not data:
        raise Unreadable(f"{path} is empty")
    try:
        graphs = [value for field, value in _fields(data) if field == _GRAPH]
        protos = [value for graph in graphs for field, value in _fields(graph) if field == _INITIALISER]
        initialisers = [_tensor(path, proto) for proto in protos if isinstance(proto, memoryview)]
    except (ValueError, IndexError, TypeError):
        raise Unreadable(f"{path} is no ONNX model, or it is cut off") from None
    if not initialisers:
        raise Unreadable(f"{path} holds no initialiser: it is no ONNX model, or one without weights")
    return Checkpoint(path, "ONNX", initialisers, files=(path,))


def _fields(data: Any) -> Iterator[tuple[int, Any]]:
    """Field number and value: an integer, or the bytes of a field of some length."""
    at, end = 0, len(data)
    while at < end:
        key, at = _integer(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _integer(data, at)
        elif kind == 2:
            length, at = _integer(data, at)
            value, at = data[at : at + length], at + length
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at : at + size], at + size
        else:
            raise ValueError
        if at > end:
            raise ValueError
        yield key >> 3, value


def _integer(data: Any, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError


def _tensor(path: str, proto: memoryview) -> StoredTensor:
    dims: list[int] = []
    values: dict[int, Any] = {}
    outside: dict[str, str] = {}
    for field, value in _fields(proto):
        if field == _DIMS:
            dims += [value] if isinstance(value, int) else _packed(value)
        elif field == _EXTERNAL:
            pair = {key: bytes(text).decode() for key, text in _fields(value)}
            outside[pair.get(1, "")] = pair.get(2, "")
        elif field not in values:
            values[field] = value
    dtype, name = _TYPES.get(values.get(_TYPE, 0), ""), bytes(values.get(_NAME, b"")).decode()
    dtype = "float64" if dtype == "double" else dtype
    shape = tuple(dims)
    raw = values.get(_RAW)
    if outside:
        raw = _outside(path, outside, math.prod(shape) * width(dtype) if dtype else 0)
    plain = values.get({"float32": _FLOATS, "int64": _INT64, "float64": _DOUBLES}.get(dtype, -1))
    if raw is None and isinstance(plain, memoryview):
        raw = memoryview(np.array(_packed(plain), "<i8").tobytes()) if dtype == "int64" else plain
    if not dtype or raw is None or len(raw) != math.prod(shape) * width(dtype):
        raise Unreadable(f"{path}: the initialiser {name or '?'} has no values of its shape and type")
    return StoredTensor(name, shape, dtype, partial(decoded, raw, dtype, shape))


def _packed(data: Any) -> list[int]:
    values, at = [], 0
    while at < len(data):
        value, at = _integer(data, at)
        values.append(value)
    return values


def _outside(path: str, entry: dict[str, str], size: int) -> memoryview:
    """The values of a tensor that is kept in a file next to the model."""
    name = entry.get("location", "")
    if not name or os.path.isabs(name) or ".." in name.split("/"):
        raise Unreadable(f"{path}: the values of a tensor are said to be in {name}, outside of its folder")
    start, length = int(entry.get("offset") or 0), int(entry.get("length") or size)
    return part_of(os.path.join(os.path.dirname(path), name), start, length)
