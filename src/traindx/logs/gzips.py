"""Gzip unpacked piece by piece, never more than is asked for."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO


def gunzip(handle: IO[bytes], size: int) -> Iterator[bytes]:
    """Unpack member after member; what precedes a damaged place is yielded before the error."""
    unpack = zlib.decompressobj(wbits=31)
    data = b""
    while data := data or handle.read(256 * 1024):
        plain = unpack.decompress(data, size)
        if plain:
            yield plain
        data = unpack.unconsumed_tail
        if unpack.eof:
            data = unpack.unused_data.lstrip(b"\0") or handle.read(256 * 1024)
            if not data:
                return
            unpack = zlib.decompressobj(wbits=31)
    if not unpack.eof:
        raise EOFError("it ends in the middle")
