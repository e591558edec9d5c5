"""Data as a JSON document that is safe to print, whatever names it contains."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from traindx.report.text import encodable

_NOT_PLAIN = re.compile(r"[^\x00-\x7e]")
_EXACT = 2.0**53


def json_document(value: object, *, indent: bool = True) -> bytes:
    """Any data as a document."""
    return json_bytes(encoded(value), indent=indent)


def json_bytes(plain: object, *, indent: bool = True) -> bytes:
    """Plain data. What could steer a terminal or turn the order of letters around is a `\\u` escape."""
    import orjson

    option = orjson.OPT_INDENT_2 if indent else None
    try:
        text = orjson.dumps(plain, option=option)
    except TypeError:  # half of a character: a byte of a file's name that is no UTF-8
        text = orjson.dumps(encoded(plain), option=option)
    if text.isascii() and b"\x7f" not in text:
        return text
    return _NOT_PLAIN.sub(_escape, text.decode()).encode()


def _escape(match: re.Match[str]) -> str:
    return match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1].replace("\x7f", "\\u007f")


def encoded(value: Any) -> Any:
    """Data that JSON can represent: dataclasses as objects, arrays as lists, NaN and Inf as text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, int):
        return value if abs(value) < _EXACT else str(value)
    if isinstance(value, float):
        return number(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encoded(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {encodable(str(key)): encoded(member) for key, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [encoded(member) for member in value]
    if hasattr(value, "tolist"):  # an array
        return encoded(value.tolist())
    return encodable(str(value))


def number(value: float) -> float | int | str:
    """Whole numbers without a fraction."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return int(value) if abs(value) < _EXACT and value == int(value) else float(value)
