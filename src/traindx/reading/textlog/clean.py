"""Text as a person sees it: colours, backspaces, carriage returns and NUL holes taken out."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

_ANSI = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,500}(?:\x07|\x1b\\)|[@-Z\\-_])")
_MARKS = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f]+")
_LINE_LIMIT = 1 << 20


def clean(chunk: bytes) -> bytes:
    """One piece of log; redrawn progress bars become lines of their own."""
    if b"\x1b" in chunk:
        chunk = _ANSI.sub(b"", chunk)
    if b"\0" in chunk:
        chunk = chunk.replace(b"\0", b"")
    if b"\x08" in chunk:
        chunk = re.sub(rb"\x08+", b"\n", chunk)
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return _MARKS.sub(b" ", chunk)


def pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cleaned pieces that begin and end with a newline: no line is torn between two of them."""
    carry = waiting = b""
    decode = None
    for chunk in chunks:
        decode = decode or _decoder(chunk)
        data = carry + decode(chunk)
        cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1))
        if cut < 0 and len(data) < _LINE_LIMIT:
            carry = data
            continue
        if cut < 0:
            cut = len(data) - 1
        carry = data[cut + 1 :] if len(data) - cut <= _LINE_LIMIT else b""
        if waiting:
            yield b"\n" + clean(waiting) + b"\n"
        waiting = data[: cut + 1]
    if waiting or carry:
        yield b"\n" + clean(waiting + carry) + b"\n"


def _decoder(first: bytes) -> Decoder:
    for mark, name in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if first.startswith(mark):
            return Decoder(name)
    if first.startswith(codecs.BOM_UTF8):
        return Decoder("")
    return Decoder("")


class Decoder:
    """Bytes of any encoding as UTF-8-like bytes; only UTF-16 needs work."""

    def __init__(self, name: str) -> None:
        self._inner = codecs.getincrementaldecoder(name)("replace") if name else None

    def __call__(self, chunk: bytes) -> bytes:
        if self._inner is None:
            return chunk
        return self._inner.decode(chunk).lstrip("\ufeff").encode("utf-8", "replace")


def text(raw: bytes) -> str:
    """A name or line as text: UTF-8, else GBK, else one character per byte."""
    for encoding in ("utf-8", "gbk"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1")
