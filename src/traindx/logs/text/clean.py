"""Text as a person sees it: colours, backspaces, carriage returns and NUL holes taken out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from traindx.logs.lines import plain_chunks

_ANSI = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,500}(?:\x07|\x1b\\)|[@-Z\\-_])")
# Control bytes become blanks: the skeletons use some of them as marks.
_PLAIN = bytes(32 if (0 < b < 8 or 14 <= b < 27 or 28 <= b < 32) else b for b in range(256))
_LINE_LIMIT = 1 << 20


def clean(chunk: bytes) -> bytes:
    """One piece of log; redrawn progress bars become lines of their own."""
    if b"\x1b" in chunk:
        chunk = _ANSI.sub(b"", chunk)
    if b"\x08" in chunk:
        chunk = re.sub(rb"\x08+", b"\n", chunk)
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return chunk.translate(_PLAIN)


def pieces(chunks: Iterable[bytes], encoding: str | None = None) -> Iterator[bytes]:
    """Cleaned pieces that begin and end with a newline: no line is torn between two of them."""
    carry = waiting = b""
    for chunk in plain_chunks(chunks, encoding):
        data = carry + chunk
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


def text(raw: bytes) -> str:
    """A name or line as text: UTF-8, else GBK, else one character per byte."""
    for encoding in ("utf-8", "gbk"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1")
