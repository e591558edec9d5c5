"""The checksums of TFRecord files: masked CRC-32C, of many records in one pass.

With each stored CRC put in its place (unmasked), the CRC register after a sound record is known. So the
4 bytes are chosen such that the header that follows leaves the register as a fresh CRC starts, and one
CRC over all records tells whether each of them is sound.
"""

from __future__ import annotations

import struct
from functools import cache, lru_cache

import google_crc32c
import numpy as np
import numpy.typing as npt

from traindx.core.nouns import IntArray

BULK = 4096
_ONES = 0xFFFFFFFF
_MASK_DELTA = 0xA282EAD8
_POLYNOMIAL = 0x82F63B78
_HEADER = struct.Struct("<QI")
_SIZE = struct.Struct("<Q")


def masked(crc: int) -> int:
    """The CRC as TFRecord stores it."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ONES


@lru_cache(maxsize=1 << 16)
def size_crc(size: int) -> int:
    """The masked CRC that follows the length of a record."""
    return masked(google_crc32c.value(_SIZE.pack(size)))


def is_sound(raw: bytes, start: int, size: int) -> bool:
    stored = int.from_bytes(raw[start + size : start + size + 4], "little")
    return masked(google_crc32c.value(raw[start : start + size])) == stored


@cache
def _fresh_after(size: int) -> int:
    """The bits that, ahead of the header of a record of this size, lead to a fresh CRC register."""
    header = _HEADER.pack(size, size_crc(size))
    register = int(google_crc32c.extend(_ONES, header))
    for _ in range(8 * (len(header) + 4)):
        top = register >> 31
        register = ((register ^ (_POLYNOMIAL * top)) << 1 | top) & _ONES
    return register


def all_sound(data: npt.NDArray[np.uint8], starts: IntArray, sizes: IntArray) -> bool:
    """Whether the payload CRCs of neighbouring records are right, in one pass."""
    if starts.size == 1:
        size = int(sizes[0])
        return is_sound(data[starts[0] : starts[0] + size + 4].tobytes(), 0, size)
    patched = data[starts[0] : starts[-1] + sizes[-1] + 4].copy()
    stored = np.ndarray((patched.size - 3,), "<u4", patched, strides=(1,))
    at = starts - starts[0] + sizes
    crcs = stored[at] - np.uint32(_MASK_DELTA)
    crcs = (crcs >> np.uint32(17) | crcs << np.uint32(15)) ^ np.uint32(_ONES)
    fresh = np.zeros(BULK, dtype=np.uint32)
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        fresh[size] = _fresh_after(size)
    crcs[:-1] ^= fresh[sizes[1:]]
    stored[at] = crcs
    return bool(google_crc32c.value(patched.tobytes()) == _ONES)
