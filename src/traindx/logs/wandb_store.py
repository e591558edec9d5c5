"""The binary datastore of W&B (`run-*.wandb`): LevelDB's log format around protobuf records."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import orjson

from traindx.core.documents import Damaged, json_of, too_deep
from traindx.logs.log_file import File
from traindx.logs.protowire import I64, LEN, VARINT, Malformed, double, fields, signed, text
from traindx.logs.tables import as_number

MAGIC = b":W&B"
_BLOCK = 32 * 1024
_CHUNK = struct.Struct("<IHB")
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_TYPE_CRC = [zlib.crc32(bytes([kind])) for kind in range(5)]
_RECORD_LIMIT = 64 * 1024 * 1024
_WORDS = ("NaN", "Infinity", "-Infinity")
_VALUE_KEY = b"\x82\x01"


@dataclass
class Store:
    """The content of one datastore. `columns` has for each key the rows it was logged in and the numbers;
    `system` for each key of the machine's own measurements the times and the numbers.
    """

    rows: int = 0
    columns: dict[str, tuple[list[int], list[float]]] = field(default_factory=dict)
    config: dict[str, object] = field(default_factory=dict)
    summary: dict[str, object] = field(default_factory=dict)
    metrics: list[tuple[str, str, str, int]] = field(default_factory=list)
    system: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)
    lost: int = 0
    torn: bool = False


def records(file: File, store: Store) -> Iterator[bytes]:
    """The records of a datastore; blocks whose checksum is wrong are skipped."""
    parts: list[bytes] = []
    rest = b""
    begin = len(MAGIC) + 3
    for chunk in file.chunks():
        data = rest + chunk
        whole = len(data) - len(data) % _BLOCK
        rest = data[whole:]
        for start in range(0, whole, _BLOCK):
            yield from _joined_pieces(data, start + begin, start + _BLOCK, parts, store)
            begin = 0
    yield from _joined_pieces(rest, begin, len(rest), parts, store)
    store.torn = store.torn or bool(parts)


def _joined_pieces(data: bytes, at: int, end: int, parts: list[bytes], store: Store) -> Iterator[bytes]:
    """The records that end in one block; `parts` carries one that continues in the next."""
    while at + 7 <= end:
        crc, length, kind = _CHUNK.unpack_from(data, at)
        if not kind and not length:
            return
        at += 7
        if at + length > end:
            if end % _BLOCK:
                store.torn = True
            else:
                store.lost += 1
            return
        piece = data[at : at + length]
        at += length
        if not _FULL <= kind <= _LAST or zlib.crc32(piece, _TYPE_CRC[kind]) != crc:
            store.lost += 1
            parts.clear()
            return
        if kind in (_FULL, _FIRST):
            parts[:] = [piece]
        elif parts:
            parts.append(piece)
        if kind in (_FULL, _LAST) and parts:
            whole = parts[0] if len(parts) == 1 else b"".join(parts)
            parts.clear()
            yield whole
        elif len(parts) > _RECORD_LIMIT // _BLOCK:
            parts.clear()
            store.lost += 1


def read_store(file: File) -> Store:
    """Everything of interest in a datastore."""
    store = Store()
    keys: dict[bytes, str] = {}
    for record in records(file, store):
        try:
            for f in fields(record):
                if f.wire != LEN:
                    continue
                if f.id == 2:
                    _history(record, f.start, f.end, store, keys)
                elif f.id == 3:
                    _updates(record, f.start, f.end, store.summary)
                elif f.id == 5:
                    _updates(record, f.start, f.end, store.config)
                elif f.id == 7:
                    _system(record, f.start, f.end, store)
                elif f.id == 12:
                    store.metrics.append(_metric(record, f.start, f.end))
                elif f.id == 17:
                    for inner in fields(record, f.start, f.end):
                        if inner.id == 4 and inner.wire == LEN:
                            _updates(record, inner.start, inner.end, store.config)
        except Malformed:
            store.lost += 1
    return store


def _history(record: bytes, start: int, end: int, store: Store, keys: dict[bytes, str]) -> None:
    """One row of the history. `keys` remembers the bytes by which each key is written."""
    row = store.rows
    store.rows += 1
    at = start
    while at + 2 < end and record[at] == 0x0A and record[at + 1] < 128:
        stop = at + 2 + record[at + 1]
        if stop > end:
            break
        _cell(record, at + 2, stop, store, row, keys)
        at = stop
    for f in fields(record, at, end):
        if f.id == 1 and f.wire == LEN:
            _cell(record, f.start, f.end, store, row, keys)
        elif f.id == 2 and f.wire == LEN:
            for inner in fields(record, f.start, f.end):
                if inner.id == 1 and inner.wire == VARINT:
                    put(store, "_step", row, signed(inner.number))


def _cell(record: bytes, start: int, end: int, store: Store, row: int, keys: dict[bytes, str]) -> None:
    head, _, tail = record[start:end].partition(_VALUE_KEY)
    key = keys.get(head)
    if key is not None and tail and tail[0] < 128 and tail[0] + 1 == len(tail):
        try:
            number = float(tail[1:])
        except ValueError:
            put(store, key, row, parse_json(tail[1:]))
        else:
            put(store, key, row, number)
        return
    name, value, plain = _item(record, start, end)
    if plain:
        keys[head] = name
    put(store, name, row, value)


def put(store: Store, key: str, row: int, value: object, depth: int = 4) -> None:
    """Note a number of a row; nested values are taken apart, what is no number is skipped."""
    if isinstance(value, dict):
        if "_type" not in value and depth:
            for inner, part in value.items():
                put(store, f"{key}.{inner}", row, part, depth - 1)
        return
    number = as_number(value) if not isinstance(value, str) or value in _WORDS else None
    if number is None:
        return
    column = store.columns.get(key)
    if column is None:
        column = store.columns[key] = ([], [])
    rows, numbers = column
    if rows and rows[-1] == row:
        numbers[-1] = number
    else:
        rows.append(row)
        numbers.append(number)


def _item(record: bytes, start: int, end: int) -> tuple[str, object, bool]:
    """Key and value of an item, and whether it is a key followed by a JSON value and nothing else."""
    name = ""
    value: object = None
    nested: list[str] = []
    order: list[int] = []
    for f in fields(record, start, end):
        order.append(f.id)
        if f.id == 1 and f.wire == LEN:
            name = text(record, f)
        elif f.id == 2 and f.wire == LEN:
            nested.append(text(record, f))
        elif f.id == 4 and f.wire == VARINT:
            value = bool(f.number)
        elif f.id == 5 and f.wire == VARINT:
            value = (f.number >> 1) ^ -(f.number & 1)
        elif f.id == 6 and f.wire == I64:
            value = double(f)
        elif f.id in (8, 16) and f.wire == LEN:
            value = parse_json(record[f.start : f.end])
    plain = order[-1:] == [16] and not {*order[:-1]} - {1, 2} and order.count(16) == 1
    return name or ".".join(nested), value, plain


def _system(record: bytes, start: int, end: int, store: Store) -> None:
    """One measurement of the machine: a time, then keys such as `gpu.0.gpu` with their values."""
    time = 0.0
    for f in fields(record, start, end):
        if f.id == 2 and f.wire == LEN:
            parts = {
                inner.id: inner.number for inner in fields(record, f.start, f.end) if inner.wire == VARINT
            }
            time = parts.get(1, 0) + parts.get(2, 0) / 1e9
        elif f.id == 3 and f.wire == LEN:
            key, value, _ = _item(record, f.start, f.end)
            number = as_number(value)
            if number is not None and time:
                times, numbers = store.system.setdefault(key, ([], []))
                times.append(time)
                numbers.append(number)


def parse_json(data: bytes) -> object:
    """The value a JSON text holds; None when it is damaged."""
    try:
        document = orjson.loads(data)
        return None if too_deep(data, document) else document
    except orjson.JSONDecodeError:
        with suppress(Damaged):
            return json_of(data.decode("utf-8", "replace"))
    return None


def _updates(record: bytes, start: int, end: int, target: dict[str, object]) -> None:
    """Apply the updates of a config or summary record."""
    for f in fields(record, start, end):
        if f.id in (1, 2) and f.wire == LEN:
            name, value, _ = _item(record, f.start, f.end)
            if f.id == 1:
                target[name] = value
            else:
                target.pop(name, None)


def _metric(record: bytes, start: int, end: int) -> tuple[str, str, str, int]:
    """A `define_metric`: name, glob, the metric that counts its steps, or that one's number."""
    name = glob = step = ""
    index = 0
    for f in fields(record, start, end):
        if f.id == 1 and f.wire == LEN:
            name = text(record, f)
        elif f.id == 2 and f.wire == LEN:
            glob = text(record, f)
        elif f.id == 4 and f.wire == LEN:
            step = text(record, f)
        elif f.id == 5 and f.wire == VARINT:
            index = f.number
    return name, glob, step, index
