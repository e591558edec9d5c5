"""Rows of consecutive steps as one line: a column is a list, or one value when it never changes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence


def block(rows: Sequence[dict[str, object]]) -> str:
    """`{"rows": {"t": [...], "step": [...], "loss": [...]}}` for rows in the order they came."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    columns = (f"{json.dumps(name)}:{_column(name, [row.get(name) for row in rows])}" for name in names)
    return '{"rows":{' + ",".join(columns) + "}}"


def _column(name: str, values: Sequence[object]) -> str:
    first = values[0]
    changes = name in ("t", "step") or len(values) == 1 or first is None
    if not changes and values.count(first) == len(values):
        return _value(first, _format(name))
    try:
        # One formatting call for the whole column: rows of fast steps come by the thousand.
        text = ",".join(map(_format(name).__mod__, values))
    except TypeError:
        text = ""
    if not text or "n" in text:
        text = ",".join([_value(value, _format(name)) for value in values])
    return f"[{text}]"


def _format(name: str) -> str:
    if name == "t":
        return "%.3f"
    if name == "step":
        return "%d"
    return "%.4g" if name.endswith("_s") else "%.7g"


def _value(value: object, form: str) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        return form % value if math.isfinite(value) else json.dumps(value)
    return str(value) if type(value) is int else json.dumps(value, default=str)
