"""Whole lines of a file, several MiB at a time, made plain: UTF-8, `\\n` ends, no NUL bytes."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from traindx.logs.memory_limit import room_for

if TYPE_CHECKING:
    from traindx.logs.log_file import File

MAX_LINE = 16 * 1024 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def blocks(file: File) -> Iterator[bytes]:
    """The file's lines in blocks; only the last may lack its line end. Monster lines are dropped."""
    held: list[bytes] = []
    size, dropping, dropped = 0, False, 0
    for chunk in plain_chunks(file.chunks()):
        end = chunk.rfind(b"\n") + 1
        if dropping:
            start = chunk.find(b"\n") + 1
            if not start:
                continue
            chunk, end, dropping = chunk[start:], end - start, False
        if end:
            whole = _one_line_end(b"".join((*held, chunk[:end])))
            room_for(whole)
            yield whole
            held, size = [], 0
        held.append(chunk[end:])
        size += len(held[-1])
        if size > MAX_LINE:
            whole = b"".join(held)
            cut = whole.rfind(b"\r") + 1
            if cut:
                yield _one_line_end(whole[:cut])
            held, size = [whole[cut:]], len(whole) - cut
            if size > MAX_LINE:
                held, size, dropping, dropped = [], 0, True, dropped + 1
    if rest := b"".join(held):
        yield _one_line_end(rest)
    if dropped:
        file.note(f"{dropped} line(s) longer than {MAX_LINE >> 20} MiB skipped")


def plain(data: bytes) -> bytes:
    """A piece of a file from its beginning, made plain."""
    return _one_line_end(b"".join(plain_chunks([data])))


def text_of(data: bytes) -> str:
    """Text from bytes that should be UTF-8 and may not be."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def plain_chunks(chunks: Iterable[bytes], encoding: str | None = None) -> Iterator[bytes]:
    """Pieces of a file as UTF-8 without marks and NULs; `encoding` tells that of a piece from its middle."""
    decoder: codecs.IncrementalDecoder | None = None
    for number, chunk in enumerate(chunks):
        if number == 0:
            told, skip = encoding_of(chunk) if encoding is None else (encoding, 0)
            chunk = chunk[skip:]
            if told != "utf-8":
                decoder = codecs.getincrementaldecoder(told)("replace")
        if decoder is not None:
            chunk = decoder.decode(chunk).encode("utf-8", "replace")
        if b"\0" in chunk:
            chunk = chunk.replace(b"\0", b"")
        yield chunk


def encoding_of(start: bytes) -> tuple[str, int]:
    """The encoding and the length of its mark; UTF-16 without a mark shows as NULs in every other place."""
    for mark, encoding in _BOMS:
        if start.startswith(mark):
            return encoding, len(mark)
    probe = start[:2000]
    even, odd = probe[::2].count(0), probe[1::2].count(0)
    if odd > 0.4 * len(probe) and even < 0.1 * len(probe):
        return "utf-16-le", 0
    if even > 0.4 * len(probe) and odd < 0.1 * len(probe):
        return "utf-16-be", 0
    return "utf-8", 0


def _one_line_end(block: bytes) -> bytes:
    if b"\r" not in block:
        return block
    return block.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
