"""Memory asked for before it is needed: where it runs out in the middle, orjson ends the whole process."""

from __future__ import annotations

import numpy as np

_SMALL = 1 << 16
_LOOKS = 3
# orjson takes twelve times the text for its own notes; then what comes out of it: numbers, lists, objects.
_NOTES, _VALUE, _LIST, _OBJECT = 13, 40, 88, 250


def room_for(data: bytes) -> None:
    """Raise MemoryError when the values of a text would not fit; judged by a few pieces of it."""
    last = len(data) - _SMALL
    if last <= 0:
        return
    pieces = [data[at : at + _SMALL] for at in range(0, last + 1, max(1, last // (_LOOKS - 1)))]
    needed = sum(
        _VALUE * (one.count(b",") + one.count(b"\n")) + _LIST * one.count(b"[") + _OBJECT * one.count(b"{")
        for one in pieces
    )
    # Not touched, so that it costs nothing but the asking: a bytearray would be filled with zeros.
    np.empty(_NOTES * len(data) + needed * len(data) // sum(map(len, pieces)), np.uint8)
