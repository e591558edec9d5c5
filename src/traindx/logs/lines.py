"""Whole lines of a file, several MiB at a time, made plain: UTF-8, `\\n` ends, no NUL bytes."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

import numpy as np

from traindx.logs.log_file import File

MAX_LINE = 16 * 1024 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SMALL = 1 << 16
_PIECES = 3
# orjson takes twelve times the text for its own notes; then what comes out of it: numbers, lists, objects.
_NOTES, _VALUE, _LIST, _OBJECT = 13, 40, 88, 250


def blocks(file: File) -> Iterator[bytes]:
    """The file's lines in blocks; only the last may lack its line end. Lines of many MiB are dropped."""
    pending: list[bytes] = []
    size, dropping, dropped = 0, False, 0
    for chunk in plain_chunks(file.chunks()):
        end = chunk.rfind(b"\n") + 1
        if dropping:
            start = chunk.find(b"\n") + 1
            if not start:
                continue
            chunk, end, dropping = chunk[start:], end - start, False
        if end:
            whole = _one_line_end(b"".join((*pending, chunk[:end])))
            room_for(whole)
            yield whole
            pending, size = [], 0
        pending.append(chunk[end:])
        size += len(pending[-1])
        if size > MAX_LINE:
            whole = b"".join(pending)
            cut = whole.rfind(b"\r") + 1
            if cut:
                yield _one_line_end(whole[:cut])
            pending, size = [whole[cut:]], len(whole) - cut
            if size > MAX_LINE:
                pending, size, dropping, dropped = [], 0, True, dropped + 1
    if rest := b"".join(pending):
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
    """Pieces of a file as UTF-8 without marks and NULs; `encoding` is that of a piece from the middle."""
    decoder: codecs.IncrementalDecoder | None = None
    for number, chunk in enumerate(chunks):
        if number == 0:
            detected, skip = encoding_of(chunk) if encoding is None else (encoding, 0)
            chunk = chunk[skip:]
            if detected != "utf-8":
                decoder = codecs.getincrementaldecoder(detected)("replace")
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


def room_for(data: bytes) -> None:
    """Raise MemoryError when the values of a text would not fit; judged by a few pieces of it.

    Memory is asked for before it is needed: where it runs out halfway, orjson ends the whole process.
    """
    last = len(data) - _SMALL
    if last <= 0:
        return
    pieces = [data[at : at + _SMALL] for at in range(0, last + 1, max(1, last // (_PIECES - 1)))]
    needed = sum(
        _VALUE * (piece.count(b",") + piece.count(b"\n"))
        + _LIST * piece.count(b"[")
        + _OBJECT * piece.count(b"{")
        for piece in pieces
    )
    # Not touched, so that it costs nothing but the asking: a bytearray would be filled with zeros.
    np.empty(_NOTES * len(data) + needed * len(data) // sum(map(len, pieces)), np.uint8)
