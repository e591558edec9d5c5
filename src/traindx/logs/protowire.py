"""A reader of protobuf's wire format for the few messages in training logs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_FIXED64 = struct.Struct("<Q")
_FIXED32 = struct.Struct("<I")
VARINT, I64, LEN, I32 = 0, 1, 2, 5


class Malformed(Exception):
    """The bytes are not a protobuf message."""


class WireField(NamedTuple):
    """One field: `number` is a varint's or a fixed field's bits; bytes span `start` to `end`."""

    id: int
    wire: int
    number: int
    start: int
    end: int


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """An unsigned varint and the position after it."""
    result = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise Malformed("a number runs over the end")


def signed(number: int) -> int:
    """A varint read as int64."""
    return number - (1 << 64) if number >= 1 << 63 else number


def fields(data: bytes, start: int = 0, end: int | None = None) -> Iterator[WireField]:
    """The fields of one message, in the order written."""
    stop = len(data) if end is None else end
    at = start
    while at < stop:
        key, at = varint(data, at, stop)
        number, wire = key >> 3, key & 7
        value = 0
        begin = at
        if wire == VARINT:
            value, at = varint(data, at, stop)
        elif wire == LEN:
            size, begin = varint(data, at, stop)
            at = begin + size
        elif wire == I64:
            at += 8
            value = _FIXED64.unpack_from(data, begin)[0] if at <= stop else 0
        elif wire == I32:
            at += 4
            value = _FIXED32.unpack_from(data, begin)[0] if at <= stop else 0
        else:
            raise Malformed(f"wire type {wire}")
        if at > stop or not number:
            raise Malformed("a field runs over the end")
        yield WireField(number, wire, value, begin, at)


def text(data: bytes, field: WireField) -> str:
    """A string field; bytes that are not UTF-8 are replaced."""
    return data[field.start : field.end].decode("utf-8", "replace")


def double(field: WireField) -> float:
    """A 64-bit field as a float."""
    return float(struct.unpack("<d", _FIXED64.pack(field.number))[0])


def single(field: WireField) -> float:
    """A 32-bit field as a float."""
    return float(struct.unpack("<f", _FIXED32.pack(field.number))[0])
