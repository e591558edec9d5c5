"""How an item of the checklist declares itself, and what it answers.

`checks.toml` is the table of all items: title, group, page, and the findings that make one fail. What else an
item says is measured by the function of its name in `checks/<group>.py`, which takes the `flight`, or the
`case` of the untouched arm, or both.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from traindx.core.nouns import Number

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
_MEASURES = "traindx.experiment.preflight.checks"


@dataclass(frozen=True)
class CheckAnswer:
    """Passed, failed, or why it could not be checked; one sentence with its numbers.

    `do` says what to do about a failure, `cause` which page explains it.
    """

    status: Status
    text: str
    numbers: Mapping[str, Number] = field(default_factory=dict)
    do: str = ""
    cause: str = ""


def passed(text: str, **numbers: Number) -> CheckAnswer:
    return CheckAnswer("pass", text, numbers)


def unknown(text: str, **numbers: Number) -> CheckAnswer:
    """It could not be checked, or the result does not decide."""
    return CheckAnswer("unknown", text, numbers)


def failed(text: str, *, do: str = "", cause: str = "", **numbers: Number) -> CheckAnswer:
    return CheckAnswer("fail", text, numbers, do, cause)


@dataclass(frozen=True)
class Item:
    """One thing to check. `title` says what is true when it passes.

    It fails with the worst of its `findings`, else `measure` answers; its numbers are kept in both cases.
    """

    id: str
    title: str
    group: Group
    page: str
    findings: tuple[str, ...]
    measure: Callable[..., CheckAnswer]
    lasting: bool = False
    """Whether a failure is a fact about script and data, which a longer run does not change."""


def ids() -> frozenset[str]:
    """Their names, from the table: loading what measures takes a while."""
    return frozenset(_table())


@cache
def items() -> tuple[Item, ...]:
    """All of them in the order of the report."""
    return tuple(_item(id, row) for id, row in _table().items())


def _item(id: str, row: Mapping[str, Any]) -> Item:
    module = importlib.import_module(f"{_MEASURES}.{row['group']}")
    findings = tuple(row.get("findings", ()))
    measure, lasting = getattr(module, id), row.get("lasting", False)
    return Item(id, row["title"], row["group"], row["page"].strip(), findings, measure, lasting)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("checks.toml").read_text(encoding="utf-8"))
