"""Data as the text of a JSON document that is safe to print, whatever names it holds."""

from __future__ import annotations

import json
import re
from typing import Any

from traindx.report.text import encodable

_NOT_PLAIN = re.compile(r"[^\x00-\x7e]")


def json_bytes(document: object, *, indent: bool = True) -> bytes:
    """The document. What could steer a terminal or turn the order of letters around is a `\\u` escape."""
    import orjson

    option = orjson.OPT_INDENT_2 if indent else None
    try:
        made = orjson.dumps(document, option=option)
    except TypeError:  # half of a character: a byte of a file's name that is no UTF-8
        made = orjson.dumps(_encodable(document), option=option)
    if made.isascii() and b"\x7f" not in made:
        return made
    return _NOT_PLAIN.sub(_escape, made.decode()).encode()


def _escape(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1].replace("\x7f", "\\u007f")


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(each) for key, each in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list | tuple) else value
