"""Rows of consecutive steps, and samples, as text: short, and quick to make."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence


def block(rows: Sequence[dict[str, object]]) -> tuple[tuple[str, ...], str]:
    """The names of the columns, and the rows as one line; a column that never changes is one value."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    columns = (_column(name, [row.get(name) for row in rows]) for name in names)
    return tuple(names), '{"rows":[' + ",".join(columns) + "]}"


def sample(t: float, step: int, groups: Mapping[str, Mapping[str, object]]) -> str:
    """A look inside as a line. Four digits: most of it is estimated from parts of tensors."""
    told = ",".join(f"{json.dumps(name)}:{_group(group)}" for name, group in groups.items())
    return f'{{"t":{t:.3f},"step":{step},"sample":{{{told}}}}}'


def _group(group: Mapping[str, object]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{_told(value)}" for name, value in group.items()) + "}"


def _told(value: object) -> str:
    return _listed(value, "%.4g") if isinstance(value, list) else _value(value, "%.5g")


def _column(name: str, values: Sequence[object]) -> str:
    form = "%.3f" if name == "t" else "%d" if name == "step" else "%.3g" if name.endswith("_s") else "%.7g"
    first = values[0]
    changes = name in ("t", "step") or len(values) == 1 or first is None
    if not changes and values.count(first) == len(values):
        return _value(first, form)
    return _listed(values, form)


def _listed(values: Sequence[object], form: str) -> str:
    try:
        # One formatting call for the whole list: rows of fast steps come by the thousand.
        text = ",".join(map(form.__mod__, values))
    except TypeError:
        text = ""
    if not text or "n" in text:
        text = ",".join([_value(value, form) for value in values])
    return f"[{text}]"


def _value(value: object, form: str) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        return form % value if math.isfinite(value) else json.dumps(value)
    return str(value) if type(value) is int else json.dumps(value, default=str)
