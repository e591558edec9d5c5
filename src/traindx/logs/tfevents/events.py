"""The scalars of an event file, decoded many at a time with numpy.

A summary value is compared, all its bytes but the number, with the templates learned so far (one per tag and
layout); the number then lies at a known place. What differs in any byte is walked one by one, and
teaches a new template where it turns out to be a scalar of fixed size.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from traindx.core.nouns import FloatArray, IntArray
from traindx.logs.protowire import Malformed
from traindx.logs.tfevents import summary as slow
from traindx.logs.tfevents.layout import UInts, Values, events_of, keys_of, u64
from traindx.logs.tfevents.record import RecordBlock, view

_SLOT_BITS = 18
_TEMPLATE_LIMIT = 60_000
_TEMPLATE_BYTES = 1024
_KINDS = sorted(set(slow.DTYPES.values()))
_NAMES = {"histograms": "histogram", "images": "image"}


@dataclass
class Scalars:
    """All scalars of a file in file order, and what else is in the file."""

    tags: list[str]
    tag: npt.NDArray[Any]
    step: IntArray
    time: FloatArray
    value: FloatArray
    texts: dict[str, list[str]]
    hparams: dict[str, object]
    others: Counter[str]


@dataclass
class _Templates:
    """Layouts of scalar values. Row j of `words` holds the j-th 8 bytes of each, `masks` what counts."""

    slots: npt.NDArray[np.int32] = field(default_factory=lambda: np.full(1 << _SLOT_BITS, -1, dtype=np.int32))
    keys: set[int] = field(default_factory=set)
    rows: list[tuple[int, int, str, int, bytes, bytes]] = field(default_factory=list)
    tag: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    size: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    place: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    kind: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    words: UInts = field(default_factory=lambda: np.zeros((0, 0), dtype=np.uint64))
    masks: UInts = field(default_factory=lambda: np.zeros((0, 0), dtype=np.uint64))

    def add(self, key: int, tag: int, raw: bytes, start: int, end: int, slot: tuple[int, str]) -> None:
        place, kind = slot
        width = np.dtype(kind).itemsize
        mask = bytearray(b"\xff" * (end - start))
        mask[place - start : place - start + width] = bytes(width)
        self.keys.add(key)
        self.slots[key >> (64 - _SLOT_BITS)] = len(self.rows)
        self.rows.append((tag, place - start, kind, end - start, raw[start:end], bytes(mask)))

    def settle(self) -> None:
        """Lay the learned rows out as arrays."""
        self.tag, self.place, self.size = (
            np.array([row[i] for row in self.rows], dtype=np.int64) for i in (0, 1, 3)
        )
        self.kind = np.array([_KINDS.index(row[2]) for row in self.rows], dtype=np.int64)
        width = -(-int(self.size.max()) // 8) * 8
        masks = np.frombuffer(b"".join(row[5].ljust(width, b"\0") for row in self.rows), dtype="<u8")
        words = np.frombuffer(b"".join(row[4].ljust(width, b"\0") for row in self.rows), dtype="<u8")
        self.masks = masks.reshape(len(self.rows), -1).T.copy()
        self.words = (words & masks).reshape(len(self.rows), -1).T.copy()


class Decoder:
    """Collects the scalars of one file block by block."""

    def __init__(self) -> None:
        self.ids: dict[bytes, int] = {}
        self.plugins: dict[bytes, str] = {}
        self.templates = _Templates()
        self.parts: list[tuple[npt.NDArray[np.int32], IntArray, FloatArray, FloatArray]] = []
        self.texts: dict[str, list[str]] = {}
        self.hparams: dict[str, object] = {}
        self.others: Counter[str] = Counter()

    def add(self, block: RecordBlock) -> None:
        """Decode the events of one block."""
        if not block.starts.size:
            return
        times, steps, values, odd = events_of(block)
        extra: list[tuple[int, int, int]] = []
        for at in odd.tolist():
            start = int(block.starts[at])
            try:
                event = slow.event(block.raw, start, start + int(block.sizes[at]))
            except Malformed:
                self.others["malformed event"] += 1
                continue
            times[at], steps[at] = event.wall_time, event.step
            extra += [(at, low, high - low) for low, high in event.values]
            if event.kind not in ("summary", "version", ""):
                self.others[event.kind] += 1
        if extra:
            extra_columns = np.array(extra, dtype=np.int64).T
            values = Values(
                *(
                    np.concatenate(pair)
                    for pair in zip((values.event, values.start, values.size), extra_columns, strict=True)
                )
            )
        if values.event.size > 1 and (np.diff(values.event) < 0).any():
            order = np.argsort(values.event, kind="stable")
            values = Values(values.event[order], values.start[order], values.size[order])
        if values.event.size:
            tags, numbers = self._numbers(block.raw, values)
            is_scalar = tags >= 0
            if not is_scalar.all():
                tags, numbers, values.event = tags[is_scalar], numbers[is_scalar], values.event[is_scalar]
            self.parts.append((tags.astype(np.int32), steps[values.event], times[values.event], numbers))

    def _numbers(self, raw: bytes, values: Values) -> tuple[IntArray, FloatArray]:
        """The tag (-1: not a scalar) and the number of each value."""
        tags = np.full(values.start.size, -1, dtype=np.int64)
        numbers = np.zeros(values.start.size)
        keys = keys_of(raw, values)
        unmatched = self._match(raw, values, keys, np.arange(values.start.size), tags, numbers)
        for _ in range(2):
            if not unmatched.size:
                return tags, numbers
            template_count = len(self.templates.rows)
            first = np.unique(keys[unmatched], return_index=True)[1]
            for at in unmatched[np.sort(first)].tolist():
                self._walk(raw, values, keys, at, tags, numbers)
            unmatched = np.delete(unmatched, first)
            if len(self.templates.rows) > template_count:
                self.templates.settle()
                unmatched = self._match(raw, values, keys, unmatched, tags, numbers)
        for at in unmatched.tolist():
            self._walk(raw, values, keys, at, tags, numbers)
        return tags, numbers

    def _match(
        self, raw: bytes, values: Values, keys: UInts, indices: IntArray, tags: IntArray, numbers: FloatArray
    ) -> IntArray:
        """Read the values whose layout is known; return those whose layout is not."""
        templates = self.templates
        if not templates.rows or not indices.size:
            return indices
        is_all = indices.size == tags.size
        start, size = (values.start, values.size) if is_all else (values.start[indices], values.size[indices])
        rows = templates.slots[(keys if is_all else keys[indices]) >> u64(64 - _SLOT_BITS)]
        is_match = (rows >= 0) & (templates.size[rows] == size)
        eights = cast(UInts, view(raw, "<u8"))
        longest = int(templates.size[rows[is_match]].max(initial=0))
        for j in range(-(-longest // 8)):
            # beyond a template's end its mask is 0, so whatever is read there counts for nothing
            at = np.minimum(start + 8 * j, eights.size - 1) if j else start
            is_match &= (eights[at] & templates.masks[j][rows]) == templates.words[j][rows]
        is_all_matched = bool(is_match.all())
        if not is_all_matched:
            rows, start, matched = rows[is_match], start[is_match], indices[is_match]
        else:
            matched = indices
        gathered = self._gather(raw, start + templates.place[rows], rows)
        if is_all_matched and is_all:
            tags[:], numbers[:] = templates.tag[rows], gathered
            return indices[:0]
        tags[matched], numbers[matched] = templates.tag[rows], gathered
        return cast("IntArray", indices[~is_match])

    def _gather(self, raw: bytes, places: IntArray, rows: npt.NDArray[np.int32]) -> FloatArray:
        """The numbers at the places, each of its template's type."""
        used = np.flatnonzero(np.bincount(rows))
        kinds = sorted(set(self.templates.kind[used].tolist()))
        numbers = np.empty(rows.size)
        with np.errstate(invalid="ignore"):
            for kind in kinds:
                numbers_of_kind = cast("npt.NDArray[Any]", view(raw, _KINDS[kind]))
                if len(kinds) == 1:
                    return numbers_of_kind[places].astype(float)
                of_kind = self.templates.kind[rows] == kind
                numbers[of_kind] = numbers_of_kind[places[of_kind]]
        return numbers

    def _walk(
        self, raw: bytes, values: Values, keys: UInts, at: int, tags: IntArray, numbers: FloatArray
    ) -> None:
        """Decode one value the slow way; learn its layout when it is a scalar of fixed size."""
        start = int(values.start[at])
        end = start + int(values.size[at])
        try:
            value = slow.value(raw, start, end)
        except Malformed:
            self.others["malformed value"] += 1
            return
        if value.plugin is not None:
            self.plugins.setdefault(value.tag, value.plugin)
        plugin = self.plugins.get(value.tag, "")
        if value.kind != "scalar" or plugin not in ("", "scalars"):
            self._other(value, plugin)
            return
        tags[at] = tag = self.ids.setdefault(value.tag, len(self.ids))
        numbers[at] = value.number
        key = int(keys[at])
        room = len(self.templates.rows) < _TEMPLATE_LIMIT and end - start <= _TEMPLATE_BYTES
        if value.slot is not None and key and room and key not in self.templates.keys:
            self.templates.add(key, tag, raw, start, end, value.slot)

    def _other(self, value: slow.SummaryValue, plugin: str) -> None:
        if plugin == "hparams":
            self.hparams.update(slow.hparams(value.content))
            self.others["hyperparameters"] += 1
        elif value.kind == "text":
            self.others["text"] += 1
            name = value.tag.decode("utf-8", "replace")
            if len(self.texts) < 1000:
                self.texts.setdefault(name, value.texts)
        else:
            self.others[_NAMES.get(plugin, plugin) or value.kind or "empty value"] += 1

    def scalars(self) -> Scalars:
        """All that was collected."""
        empty = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        tags, steps, times, values = zip(*(self.parts or [empty]), strict=True)
        # 16 bits sort quickly
        narrow = np.uint16 if len(self.ids) < 1 << 16 else np.int32
        tag: npt.NDArray[Any] = np.concatenate(tags).astype(narrow)
        names = [name.decode("utf-8", "replace") for name in self.ids]
        return Scalars(
            names,
            tag,
            np.concatenate(steps),
            np.concatenate(times),
            np.concatenate(values),
            self.texts,
            self.hparams,
            self.others,
        )
