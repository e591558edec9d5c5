"""Text and numbers fit to be shown. Everything from a log is untrusted until it went through here."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from traindx.core.number_text import lasting, rounded, short
from traindx.core.number_text import probability as percent

__all__ = ["MARK", "count", "encodable", "lasting", "percent", "rounded", "short", "visible"]

MARK = "×"  # noqa: RUF001  where a value is NaN or Inf


def visible(text: str, limit: int | None = None) -> str:
    """One line without control characters, hidden direction marks or broken encoding."""
    if limit is not None and len(text) > 4 * limit:
        text = text[: 4 * limit]
    if not (text.isascii() and text.isprintable()):
        text = "".join(map(_visible_character, text))
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def encodable(text: str) -> str:
    """Text that UTF-8 can hold; bytes of a file name that are not UTF-8 are replaced."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _visible_character(char: str) -> str:
    """The character itself, a blank for white space, or its escape."""
    if char.isprintable():
        return char
    if char.isspace() and char not in "\x1c\x1d\x1e\x1f\x85\u2028\u2029":
        return " "
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if unicodedata.category(char) == "Co":
        return "\ufffd"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def count(number: int, word: str, words: str | None = None) -> str:
    """`1 run`, `1,250 runs`."""
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def first_names(names: Sequence[str], most: int) -> str:
    """`fc1, fc2 and 3 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def capitalised(sentence: str) -> str:
    """The sentence with a capital at its beginning; names within it stay as they are."""
    return sentence[:1].upper() + sentence[1:]


def value_text(value: object) -> str:
    """A setting or a measured number as a person would write it."""
    return short(value) if isinstance(value, float) else str(value)
