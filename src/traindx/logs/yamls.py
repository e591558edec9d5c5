"""YAML of unknown origin as plain data: no objects are built, no damage raises.

The parser's events are put together here instead of by PyYAML's constructors, so that an unknown
tag is data like any other, everything before a damage is kept, nesting cannot overflow the stack,
and aliases cannot multiply.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from traindx.logs.log_file import File

LIMIT_BYTES = 1 << 20
_NODES = 100_000
_DEPTH = 40
_DEEPEST = 1000
# Compiled on use: the wide character class takes longer than reading a small file.
_UNPRINTABLE = "[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_INT = re.compile(r"[-+]?\d[\d_]*")
_FLOAT = re.compile(r"[-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?")
_WORDS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null"), None),
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys((".nan",), float("nan")),
    **dict.fromkeys((".inf", "+.inf"), float("inf")),
    "-.inf": float("-inf"),
}
_LINE = re.compile(r"(?P<key>[A-Za-z_][\w./ -]{0,100}?)\s*:(?:\s+(?P<value>\S.*))?$")
_MAP = "tag:yaml.org,2002:"


def load(data: bytes) -> dict[str, object]:
    """The mapping a YAML file holds; of a damaged file what can be understood; else nothing."""
    text = re.sub(_UNPRINTABLE, " ", data[:LIMIT_BYTES].decode("utf-8-sig", "replace"))
    root = _Holder({})
    whole = _build(text, root)
    settings = root.value if isinstance(root.value, dict) else {}
    if not whole:
        for key, value in _lines(text):
            settings.setdefault(key, value)
    return settings


def load_files(files: Iterable[File], names: Collection[str]) -> dict[str, object]:
    """The settings in those of the files that bear one of the names."""
    config: dict[str, object] = {}
    for file in files:
        if file.name in names:
            config.update(load(file.read(LIMIT_BYTES)))
    return config


def scalar(text: str) -> object:
    """The value of an unquoted word: a number, a truth value, nothing, or the text itself."""
    word = text.strip()
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if len(word) > 40:
        return text
    if _INT.fullmatch(word):
        return int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    if re.fullmatch(r"0x[0-9a-fA-F]+", word):
        return int(word, 16)
    return text


@dataclass
class _Holder:
    """A list or mapping being filled; `size` counts the nodes in it, aliases written out."""

    value: Any
    key: str | None = None
    size: int = 1
    anchor: str | None = None

    def put(self, item: object, size: int = 1) -> None:
        self.size += size
        if isinstance(self.value, list):
            self.value.append(item)
        elif self.key is None:
            self.key = "?" if isinstance(item, list | dict) else str(item)
        else:
            self.value[self.key] = item
            self.key = None


def _build(text: str, root: _Holder) -> bool:
    """Fill `root` with the first document; False when the text is damaged or too large."""
    import yaml

    anchors: dict[str, tuple[object, int]] = {}
    stack: list[_Holder] = []
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    nodes = deep = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            kind = type(event).__name__
            if kind in ("MappingStartEvent", "SequenceStartEvent"):
                if deep or len(stack) >= _DEPTH:
                    deep += 1
                    _stop_if(deep > _DEEPEST)
                    continue
                stack.append(_Holder({} if kind[0] == "M" else [], anchor=event.anchor))
                if len(stack) == 1:
                    root.value = stack[0].value
            elif kind in ("MappingEndEvent", "SequenceEndEvent"):
                if deep:
                    deep -= 1
                    if not deep:
                        stack[-1].put("...")
                    continue
                _close(stack, anchors)
                if not stack:
                    return True
            elif kind in ("ScalarEvent", "AliasEvent") and stack and not deep:
                item, size = _item(event, anchors, _NODES - nodes)
                nodes += size
                _stop_if(nodes > _NODES)
                stack[-1].put(item, size)
                if kind == "ScalarEvent" and event.anchor:
                    anchors[event.anchor] = (item, 1)
    except (yaml.YAMLError, ValueError, RecursionError):
        while stack:
            _close(stack, anchors)
        return False
    return True


def _stop_if(too_much: bool) -> None:
    if too_much:
        raise ValueError("more than a configuration holds")


def _close(stack: list[_Holder], anchors: dict[str, tuple[object, int]]) -> None:
    """Finish the innermost list or mapping and hand it to the one around it."""
    closed = stack.pop()
    if isinstance(closed.value, dict):
        _merge(closed.value)
    if closed.anchor:
        anchors[closed.anchor] = (closed.value, closed.size)
    if stack:
        stack[-1].put(closed.value, closed.size)


def _merge(mapping: dict[str, object]) -> None:
    """Spread what `<<` brings in; own keys win."""
    if isinstance(merged := mapping.get("<<"), dict | list):
        del mapping["<<"]
        for part in merged if isinstance(merged, list) else [merged]:
            if isinstance(part, dict):
                for key, value in part.items():
                    mapping.setdefault(key, value)


def _item(event: Any, anchors: dict[str, tuple[object, int]], room: int) -> tuple[object, int]:
    """A scalar or an alias as data, and how many nodes it has."""
    if type(event).__name__ == "AliasEvent":
        item, size = anchors.get(event.anchor, (None, 0))
        return (item, size) if 0 < size <= room else (f"*{event.anchor}", 1)
    tag = event.tag or ""
    if tag.startswith(f"{_MAP}python/") and not event.value:
        return tag.partition(":python/")[2].partition(":")[2] or tag.rpartition("/")[2], 1
    plain = not event.style and not tag.endswith((":str", ":binary", ":timestamp", "!str"))
    return (scalar(event.value) if plain or tag.endswith((":int", ":float", ":bool")) else event.value), 1


def _lines(text: str) -> Iterator[tuple[str, object]]:
    """Top-level `key: value` lines of a file that is not valid as a whole."""
    for line in text.splitlines()[:_NODES]:
        match = _LINE.match(line)
        if match and match["value"]:
            value = match["value"].partition(" #")[0].strip()
            quoted = re.fullmatch(r"(['\"])(.*)\1", value)
            yield match["key"], quoted[2] if quoted else scalar(value)
