"""Configurations that training scripts put into TensorBoard as text."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from traindx.core.documents import Damaged, json_of, shallow
from traindx.logs import yamls

_SETTINGS_TAG = re.compile(r"arg|config|cfg|hparam|hyper|param|setting|option|\bopts?\b|flags", re.IGNORECASE)
_WRAPPERS = re.compile(r"^\s*(?:<pre>|<code>|```\w*)+|(?:</pre>|</code>|```)+\s*$", re.IGNORECASE)
_PAIR = re.compile(r"([A-Za-z_][\w.]*)=('[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|[^,()]+)")
_BULLET = re.compile(r"^\s*(?:[-*+]\s+)?\**`?([A-Za-z_][\w./ -]{0,60}?)`?\**\s*[:=]\s*\**\s*`?(.*?)`?\s*$")
_LIMIT = 1 << 18


def config_of(texts: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """The settings of the run in the texts of a file."""
    config: dict[str, object] = {}
    for tag, parts in texts.items():
        name = tag.removesuffix("/text_summary")
        settings = parse(parts, bool(_SETTINGS_TAG.search(name)))
        if not settings:
            continue
        if re.search(r"model.?config", name, re.IGNORECASE) and config:
            config[name] = settings
        else:
            for key, value in settings.items():
                config.setdefault(key, value)
    return config


def parse(parts: Sequence[str], is_config: bool) -> dict[str, object]:
    """Settings in a text: JSON, a Python dict or Namespace, a Markdown table, `key: value` lines.

    Unless the tag's name announces settings, only JSON and tables are read.
    """
    if len(parts) > 1 and len(parts) % 2 == 0 and is_config:
        return {key: yamls.scalar(value) for key, value in zip(parts[::2], parts[1::2], strict=True)}
    text = _WRAPPERS.sub("", "\n".join(parts)[:_LIMIT]).strip()
    if text.startswith("{"):
        return _literal(text)
    table = _table(text)
    if table or not is_config:
        return table
    call = re.fullmatch(r"\w+\((.*)\)", text, re.DOTALL)
    if call:
        return {key: yamls.scalar(value.strip("'\" ")) for key, value in _PAIR.findall(call[1])}
    lines = [match for line in re.split(r"\n|<br/?>", text) if (match := _BULLET.match(line))]
    return {match[1].strip(): yamls.scalar(match[2]) for match in lines}


def _literal(text: str) -> dict[str, object]:
    try:
        document = json_of(text)
    except Damaged:
        try:
            document = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return {}
        if not shallow(document):
            return {}
    return {str(key): value for key, value in document.items()} if isinstance(document, dict) else {}


def _table(text: str) -> dict[str, object]:
    """A Markdown table of two columns."""
    rows = [
        [cell.strip().strip("`*") for cell in line.strip().strip("|").split("|", 1)]
        for line in text.splitlines()
        if line.strip().startswith("|") or line.count("|") == 1
    ]
    rules = [at for at, row in enumerate(rows) if len(row) == 2 and set("".join(row)) <= set("-: |")]
    if not rules:
        return {}
    return {row[0]: yamls.scalar(row[1]) for row in rows[rules[0] + 1 :] if len(row) == 2 and row[0]}
