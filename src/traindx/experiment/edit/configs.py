"""Values that a script reads from a YAML, JSON or TOML file: found by their keys, changed in place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from traindx.core.documents import json_of, toml_of, yaml_of
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.paths import file_of
from traindx.source.values import Const, Made, Value

_DEEPEST = 6
LOADERS = re.compile(
    r"(^|\.)(yaml\.(safe_|full_|unsafe_)?load|json\.loads?|tomllib\.loads?|tomli\.loads?|toml\.loads?"
    r"|OmegaConf\.load)$"
)


def setting_of(job: Job, value: Value) -> tuple[str, tuple[str | int, ...]] | None:
    """The file a value is read from, and its keys in it."""
    keys: list[str | int] = []
    at: Value | None = value
    for _ in range(12):
        if not isinstance(at, Made):
            return None
        if at.kind == "call" and at.short in ("float", "int") and len(at.args) == 1:
            at = at.args[0]
        elif at.kind == "item" and len(at.args) == 1 and isinstance(key := at.args[0], Const):
            if not isinstance(key.value, str | int):
                return None
            keys.insert(0, key.value)
            at = at.receiver
        elif at.kind == "method" and at.name == "get" and at.args and isinstance(key := at.args[0], Const):
            keys.insert(0, str(key.value))
            at = at.receiver
        elif at.kind == "attribute":
            keys.insert(0, at.name)
            at = at.receiver
        elif at.kind == "call" and LOADERS.search(at.name) and at.args:
            path = file_of(job, at.args[0])
            return (path, tuple(keys)) if path is not None and keys else None
        else:
            return None
    return None


def parsed(path: str, text: str) -> Any:
    """What a configuration says; raises ValueError when it cannot be read."""
    kinds = {".json": json_of, ".toml": toml_of}
    return kinds.get(Path(path).suffix.lower(), yaml_of)(text)


def looked_up(tree: Any, keys: tuple[str | int, ...]) -> Any:
    """The value under some keys; raises LookupError."""
    for key in keys:
        listed = isinstance(tree, list) and isinstance(key, int)
        if listed or (isinstance(tree, dict) and key in tree):
            tree = tree[key]
        else:
            raise LookupError(key)
    return tree


def leaves(tree: Any, keys: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every value of a configuration that is not a table or a list, with its keys."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else None
    if inner is None:
        yield keys, tree
    elif len(keys) < _DEEPEST:
        for key, value in inner:
            yield from leaves(value, (*keys, key))


def yaml_number(text: str) -> str:
    """A number as YAML reads it: 1e-4 would be a text."""
    if "e" not in text:
        return text
    return f"{float(text):.12f}".rstrip("0") if abs(float(text)) < 1 else f"{float(text):.1f}"


def with_new_setting(path: str, text: str, keys: tuple[str, str], new: str) -> str | None:
    """The text of a YAML file with one more line in a table; None unless that and nothing else is changed."""
    table, name = keys
    inner = re.search(rf"^{re.escape(table)}:[ \t]*(#.*)?\n([ \t]+)(?=\S)", text, re.MULTILINE)
    if inner is None:
        return None
    at = inner.start(2)
    changed = f"{text[:at]}{inner[2]}{name}: {new}\n{text[at:]}"
    try:
        old_tree, new_tree = parsed(path, text), parsed(path, changed)
        added = new_tree[table].pop(name)
        return changed if old_tree == new_tree and added == float(new) else None
    except (ValueError, LookupError, TypeError):
        return None


def with_setting(path: str, text: str, keys: tuple[str | int, ...], new: str) -> str | None:
    """The text with another value under some keys; None unless that and nothing else is changed."""
    suffix = Path(path).suffix.lower()
    try:
        span = _toml_span(text, keys) if suffix == ".toml" else _yaml_span(text, keys)
        if span is None:
            return None
        changed = text[: span[0]] + new + text[span[1] :]
        old_tree, new_tree = parsed(path, text), parsed(path, changed)
        expected = parsed(
            path, f"x: {new}" if suffix not in (".toml", ".json") else _as_document(suffix, new)
        )["x"]
        if looked_up(new_tree, keys) != expected:
            return None
        looked_up(new_tree, keys[:-1])[keys[-1]] = looked_up(old_tree, keys)
        return changed if new_tree == old_tree else None
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _as_document(suffix: str, new: str) -> str:
    return f'{{"x": {new}}}' if suffix == ".json" else f"x = {new}"


def _yaml_span(text: str, keys: tuple[str | int, ...]) -> tuple[int, int] | None:
    """Where a scalar is in YAML, or in JSON, which is YAML."""
    import yaml

    try:
        node = yaml.compose(text.replace("\t", " "), Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            values = [value for name, value in node.value if name.value == str(key)]
            node = values[-1] if values else None
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
        else:
            return None
    if not isinstance(node, yaml.ScalarNode):
        return None
    return node.start_mark.index, node.end_mark.index


_TABLE = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")
_PAIR = re.compile(r"""^\s*((?:[\w-]+|"[^"]*")(?:\s*\.\s*(?:[\w-]+|"[^"]*"))*)\s*=\s*([^#\n]*?)\s*(#.*)?$""")


def _toml_span(text: str, keys: tuple[str | int, ...]) -> tuple[int, int] | None:
    """Where a value is in TOML: a line of its own under its table."""
    table: list[str] = []
    at = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        head, pair = _TABLE.match(bare), _PAIR.match(bare)
        if head:
            table = _dotted(head[1])
        elif pair and [*table, *_dotted(pair[1])] == [str(key) for key in keys]:
            return at + pair.start(2), at + pair.end(2)
        at += len(line)
    return None


def _dotted(name: str) -> list[str]:
    return [part.strip().strip('"') for part in name.split(".")]
