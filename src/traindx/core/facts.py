"""Reading the facts of a run: they come from a file, so what is not of the expected shape is not there."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

Fact = Mapping[str, Any]
LARGEST = sys.float_info.max
_SIZE = re.compile(r"[1-9][0-9]{0,11}")


def facts(value: object) -> Sequence[Fact]:
    """The objects of a list, or those under the keys of an object, each knowing its key as `name`."""
    if isinstance(value, Mapping):
        return [{"name": key, **fact} for key, fact in value.items() if isinstance(fact, Mapping)]
    return [fact for fact in value if isinstance(fact, Mapping)] if isinstance(value, list | tuple) else ()


def sizes(shape: object) -> tuple[int, ...]:
    """The sizes of a recorded shape (`64x10`); empty where it is none."""
    parts = str(shape or "").split("x")
    return tuple(map(int, parts)) if all(_SIZE.fullmatch(part) for part in parts) else ()


def number(fact: Fact, key: str) -> float | None:
    """A finite number of a fact; None when it is not there or is none."""
    value = fact.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return float(value)


def word(fact: Fact, key: str) -> str:
    """A text of a fact; empty when it is not there or is none."""
    value = fact.get(key)
    return value if isinstance(value, str) else ""


def words(fact: Fact, key: str) -> list[str]:
    """The texts of a list; empty when there is none."""
    value = fact.get(key)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list | tuple) else []
