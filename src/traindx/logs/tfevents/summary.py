"""One TensorBoard summary value or event at a time: the exact, slow way.

The quick way in `events` learns from what this module finds, and leaves to it all it does not know.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from traindx.logs import protowire
from traindx.logs.protowire import (
    I32,
    I64,
    LEN,
    VARINT,
    Malformed,
    WireField,
    double,
    fields,
    signed,
    single,
    text,
)

# TensorProto.dtype -> numpy type of `tensor_content`
DTYPES = {
    1: "<f4",
    2: "<f8",
    3: "<i4",
    4: "u1",
    5: "<i2",
    6: "i1",
    9: "<i8",
    10: "u1",
    17: "<u2",
    19: "<f2",
    22: "<u4",
    23: "<u8",
}
STRING, BFLOAT16, HALF, BOOL = 7, 14, 19, 10
_NUMERIC = {*DTYPES, BFLOAT16}
# number of the repeated field -> how its elements are written
_REPEATED = {5: "<f4", 6: "<f8", 7: "int", 10: "int", 11: "int", 13: "bits", 16: "uint", 17: "uint"}
_FIXED = {"<f4": (I32, 4, struct.Struct("<f")), "<f8": (I64, 8, struct.Struct("<d"))}
_TEXT_LIMIT = 1 << 20


@dataclass
class SummaryValue:
    """One summary value. `slot` is where a scalar's bytes lie and their type, if they are of fixed size."""

    tag: bytes = b""
    kind: str = ""
    number: float = math.nan
    slot: tuple[int, str] | None = None
    texts: list[str] = field(default_factory=list)
    plugin: str | None = None
    content: bytes = b""


@dataclass
class TfEvent:
    """One event: the kind of its payload and where its summary values lie."""

    wall_time: float = 0.0
    step: int = 0
    kind: str = ""
    values: list[tuple[int, int]] = field(default_factory=list)


_EVENT_KINDS = {
    3: "version",
    4: "graph",
    5: "summary",
    6: "log message",
    7: "session",
    8: "run metadata",
    9: "graph",
    10: "version",
}
_VALUE_KINDS = {3: "histogram", 4: "image", 5: "histogram", 6: "audio"}


def event(raw: bytes, start: int, end: int) -> TfEvent:
    """Walk one event."""
    result = TfEvent()
    for f in fields(raw, start, end):
        if f.id == 1 and f.wire == I64:
            result.wall_time = double(f)
        elif f.id == 2 and f.wire == VARINT:
            result.step = signed(f.number)
        elif f.id in _EVENT_KINDS and f.wire == LEN:
            result.kind = _EVENT_KINDS[f.id]
            if f.id == 5:
                result.values += [
                    (v.start, v.end) for v in fields(raw, f.start, f.end) if v.id == 1 and v.wire == LEN
                ]
    return result


def value(raw: bytes, start: int, end: int) -> SummaryValue:
    """Walk one summary value."""
    result = SummaryValue()
    tensor: WireField | None = None
    for f in fields(raw, start, end):
        if f.id == 1 and f.wire == LEN:
            result.tag = raw[f.start : f.end]
        elif f.id == 2 and f.wire == I32:
            result.kind, result.number, result.slot = "scalar", single(f), (f.start, "<f4")
        elif f.id in _VALUE_KINDS and f.wire == LEN:
            result.kind = _VALUE_KINDS[f.id]
        elif f.id == 8 and f.wire == LEN:
            result.kind, tensor = "tensor", f
        elif f.id == 9 and f.wire == LEN:
            _metadata(raw, f, result)
    if result.kind == "tensor" and tensor is not None:
        _tensor(raw, tensor, result)
    return result


def _metadata(raw: bytes, where: WireField, value: SummaryValue) -> None:
    for f in fields(raw, where.start, where.end):
        if f.id == 1 and f.wire == LEN:
            value.plugin = value.plugin or ""
            for inner in fields(raw, f.start, f.end):
                if inner.id == 1 and inner.wire == LEN:
                    value.plugin = text(raw, inner)
                elif inner.id == 2 and inner.wire == LEN:
                    value.content = raw[inner.start : min(inner.end, inner.start + _TEXT_LIMIT)]


def _tensor(raw: bytes, where: WireField, value: SummaryValue) -> None:
    """A tensor of one number is a scalar; one of strings is text."""
    dtype, elements = 0, 1
    content: WireField | None = None
    repeated: list[WireField] = []
    for f in fields(raw, where.start, where.end):
        if f.id == 1 and f.wire == VARINT:
            dtype = f.number
        elif f.id == 2 and f.wire == LEN:
            elements = _size(raw, f)
        elif f.id == 4 and f.wire == LEN:
            content = f
        elif f.id == 8 and f.wire == LEN and len(value.texts) < 1000:
            value.texts.append(raw[f.start : min(f.end, f.start + _TEXT_LIMIT)].decode("utf-8", "replace"))
        elif f.id in _REPEATED and len(repeated) < 2:
            repeated.append(f)
    if dtype == STRING:
        value.kind = "text"
        return
    if dtype not in _NUMERIC or elements != 1:
        return
    if content is not None and content.end > content.start:
        numbers = _content(raw, content, dtype)
    else:
        numbers = [element for f in repeated for element in _elements(raw, f, _REPEATED[f.id], dtype)]
    if len(numbers) == 1:
        value.kind = "scalar"
        value.number, value.slot = numbers[0]


def _size(raw: bytes, shape: WireField) -> int:
    total = 1
    for dim in fields(raw, shape.start, shape.end):
        if dim.id == 2 and dim.wire == LEN:
            sizes = [f.number for f in fields(raw, dim.start, dim.end) if f.id == 1 and f.wire == VARINT]
            total *= signed(sizes[-1]) if sizes else 0
        elif dim.id == 3 and dim.number:
            return -1
    return total


def _content(raw: bytes, where: WireField, dtype: int) -> list[tuple[float, tuple[int, str] | None]]:
    part = raw[where.start : where.end]
    if dtype == BFLOAT16:
        return [(_bfloat16(int.from_bytes(part, "little")), None)] if len(part) == 2 else []
    kind = np.dtype(DTYPES[dtype])
    if len(part) != kind.itemsize:
        return []
    return [(float(np.frombuffer(part, kind)[0]), (where.start, DTYPES[dtype]))]


def _elements(
    raw: bytes, f: WireField, how: str, dtype: int
) -> Iterator[tuple[float, tuple[int, str] | None]]:
    """The first numbers of a repeated field, packed or not."""
    if how in _FIXED:
        wire, width, layout = _FIXED[how]
        if f.wire == LEN and (f.end - f.start) % width == 0:
            for at in range(f.start, min(f.end, f.start + 2 * width), width):
                yield float(layout.unpack_from(raw, at)[0]), (at, how)
        elif f.wire == wire:
            yield (single(f) if wire == I32 else double(f)), (f.start, how)
        return
    bits = [f.number] if f.wire == VARINT else []
    if f.wire == LEN:
        at = f.start
        while at < f.end and len(bits) < 2:
            number, at = protowire.varint(raw, at, f.end)
            bits.append(number)
    for number in bits:
        yield _integer(number, how, dtype), None


def _integer(number: int, how: str, dtype: int) -> float:
    if how == "bits":
        if dtype == BFLOAT16:
            return _bfloat16(number & 0xFFFF)
        return float(struct.unpack("<e", struct.pack("<H", number & 0xFFFF))[0])
    if dtype == BOOL:
        return float(bool(number))
    return float(number if how == "uint" else signed(number))


def _bfloat16(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])


def hparams(content: bytes) -> dict[str, object]:
    """The hyperparameters in the plugin data of `_hparams_/session_start_info`."""
    settings: dict[str, object] = {}
    try:
        for start in (f for f in fields(content) if f.id == 3 and f.wire == LEN):
            for entry in (f for f in fields(content, start.start, start.end) if f.id == 1 and f.wire == LEN):
                key, value = "", None
                for f in fields(content, entry.start, entry.end):
                    if f.id == 1 and f.wire == LEN:
                        key = text(content, f)
                    elif f.id == 2 and f.wire == LEN:
                        value = _plain_value(content, f)
                if key:
                    settings[key] = value
    except Malformed:
        pass
    return settings


def _plain_value(content: bytes, where: WireField) -> object:
    value: object = None
    for f in fields(content, where.start, where.end):
        if f.id == 2 and f.wire == I64:
            value = double(f)
        elif f.id == 3 and f.wire == LEN:
            value = text(content, f)
        elif f.id == 4 and f.wire == VARINT:
            value = bool(f.number)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return int(value)
    return value
