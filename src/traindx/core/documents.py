"""JSON, TOML and YAML of unknown origin: plain data, or one exception for every kind of damage.

Numbers of any length are numbers in JSON: an integer that does not fit 64 bits is a float, as in orjson.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

DEEPEST = 100
_NODES_MOST = 100_000
_LONG = re.compile(r"\d{19}")
_INTEGERS = range(-(1 << 63), 1 << 64)
_TOO_LONG = "an integer does not fit 64 bits"
_TOO_MUCH = "more than a configuration holds"
_YAML_MOST = 1 << 20
_HOLDERS = (dict, list)


class Damaged(ValueError):
    """The text is not what it should be; the message is one line."""


def json_of(text: str | bytes) -> Any:
    """The JSON document a text holds; NaN and Infinity are numbers."""
    return _guarded("JSON", lambda: _json(text))


def toml_of(text: str | bytes) -> dict[str, Any]:
    """The table a TOML text holds."""
    table: dict[str, Any] = _guarded("TOML", lambda: _toml(text))
    return table


def yaml_of(text: str) -> Any:
    """A configuration as PyYAML's safe loader reads it; one whose aliases multiply is damaged."""
    return _guarded("YAML", lambda: _yaml(text))


def shallow(value: object, most: int = DEEPEST) -> bool:
    """Whether data is nested no deeper than that: code that walks it does not overflow the stack."""
    level = [value] if type(value) in _HOLDERS else []
    for _ in range(most):
        if not level:
            return True
        level = [
            inner
            for child in level
            for inner in (child.values() if isinstance(child, dict) else child)  # type: ignore[attr-defined]
            if type(inner) in _HOLDERS
        ]
    return not level


def too_deep(text: bytes, value: object, usual: int = 0) -> bool:
    """Whether what was read from a JSON text is nested too deeply; most texts show at once that it is not."""
    return text.count(b"[") + text.count(b"{") > usual + DEEPEST and not shallow(value)


def _guarded(kind: str, parse: Callable[[], object]) -> Any:
    try:
        document = parse()
        if shallow(document):
            return document
    except (RecursionError, MemoryError):
        pass
    except (ValueError, OverflowError) as error:
        message = " ".join(str(error).split())[:200]
        if "integer string conversion" in message:
            message = _TOO_LONG
        raise Damaged(f"not valid {kind} ({message})") from None
    raise Damaged(f"{kind} nested too deeply")


def _json(text: str | bytes) -> object:
    words = text if isinstance(text, str) else text.decode(json.detect_encoding(text))
    return json.loads(words, parse_int=_integer) if _LONG.search(words) else json.loads(words)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 20 else float(digits)


def _toml(text: str | bytes) -> dict[str, Any]:
    import tomllib

    table = tomllib.loads(text if isinstance(text, str) else text.decode("utf-8-sig"))
    _refuse_long_integers(table)
    return table


def _refuse_long_integers(document: object) -> None:
    """Python reads hexadecimal integers of any length, and then cannot print them."""
    waiting: list[object] = [document]
    for value in waiting:
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
        elif isinstance(value, int) and value not in _INTEGERS:
            raise ValueError(_TOO_LONG)


def _yaml(text: str) -> object:
    import yaml

    if len(text) > _YAML_MOST:
        raise ValueError(_TOO_MUCH)
    try:
        # libyaml's parser, where there is one: the other takes half a minute for a thousand brackets.
        _refuse_growth(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
        document: object = yaml.safe_load(text)
        _refuse_long_integers(document)
        return document
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _refuse_growth(events: Iterable[Any]) -> None:
    """Aliases, written out, must not exceed the size of a configuration nor contain themselves."""
    sizes: dict[str | None, int] = {}
    stack: list[tuple[str | None, int]] = [(None, 0)]
    for event in events:
        kind, size = type(event).__name__, 1
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            stack.append((event.anchor, 1))
            continue
        if kind in ("MappingEndEvent", "SequenceEndEvent"):
            anchor, size = stack.pop()
            sizes[anchor] = size
        elif kind == "AliasEvent":
            size = _NODES_MOST if event.anchor in dict(stack) else sizes.get(event.anchor, 1)
        above, nodes = stack[-1]
        stack[-1] = (above, nodes + size)
        if nodes + size > _NODES_MOST or len(stack) > DEEPEST:
            raise ValueError(_TOO_MUCH)
