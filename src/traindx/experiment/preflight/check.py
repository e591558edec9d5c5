"""How an item of the checklist declares itself, and what it answers.

An item is a module in `traindx.experiment.preflight.checks` that holds an `ITEM` and a function `look`,
which takes a `Flight` and gives an `Answer`. Its docstring is its page.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from traindx.core.nouns import Number

if TYPE_CHECKING:
    from traindx.experiment.preflight.observations import Flight

Status = Literal["pass", "fail", "unknown"]
Group = Literal["data", "start", "gradients", "learning", "model", "machine"]
GROUPS: Mapping[Group, str] = {
    "data": "Data",
    "start": "Start",
    "gradients": "Gradients",
    "learning": "Learning",
    "model": "Model",
    "machine": "Machine",
}
_ITEMS = "traindx.experiment.preflight.checks"


@dataclass(frozen=True)
class Answer:
    """Passed, failed, or why it could not be checked; one sentence with its numbers.

    `do` says what to do about a failure, `cause` which page tells more.
    """

    status: Status
    text: str
    numbers: Mapping[str, Number] = field(default_factory=dict)
    do: str = ""
    cause: str = ""


def passed(text: str, **numbers: Number) -> Answer:
    return Answer("pass", text, numbers)


def unknown(text: str, **numbers: Number) -> Answer:
    """It could not be checked, or the result does not tell."""
    return Answer("unknown", text, numbers)


def failed(text: str, *, do: str = "", cause: str = "", **numbers: Number) -> Answer:
    return Answer("fail", text, numbers, do, cause)


@dataclass(frozen=True)
class Item:
    """One thing to check. `title` says what is true when it passes."""

    title: str
    group: Group
    order: int
    id: str = ""
    page: str = ""
    look: Callable[[Flight], Answer] = lambda _: unknown("")


def ids() -> frozenset[str]:
    """Their names, told by their files."""
    folder = importlib.import_module(_ITEMS).__path__
    return frozenset(info.name for info in pkgutil.iter_modules(folder))


@cache
def items() -> tuple[Item, ...]:
    """All of them in the order they are told in."""
    found = []
    for info in pkgutil.iter_modules(importlib.import_module(_ITEMS).__path__, f"{_ITEMS}."):
        module = importlib.import_module(info.name)
        unit = getattr(module, "ITEM", None)
        if isinstance(unit, Item):
            id = info.name.rpartition(".")[2]
            found.append(replace(unit, id=id, page=(module.__doc__ or "").strip(), look=module.look))
    groups = list(GROUPS)
    return tuple(sorted(found, key=lambda item: (groups.index(item.group), item.order, item.id)))
