"""How a change declares itself, and one concrete change asked for.

A change is a function in `traindx.experiment.changes` under `@change(...)`. Its docstring is its page; its
keyword-only parameters are its values.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from traindx.core.nouns import Scalar

_Apply = TypeVar("_Apply", bound=Callable[..., None])
_CHANGES = "traindx.experiment.changes"
_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class ChangeSpec:
    """One thing that can be changed at run time. `above`, `least` and `most` bound its values.

    With `alters_loss` the loss means something else than before.
    """

    id: str
    page: str
    apply: Callable[..., None]
    knobs: tuple[str, ...] = ()
    above: Mapping[str, float] = field(default_factory=dict)
    least: Mapping[str, float] = field(default_factory=dict)
    most: Mapping[str, float] = field(default_factory=dict)
    alters_loss: bool = False

    @property
    def title(self) -> str:
        """The first sentence of its page."""
        return " ".join(self.page.partition("\n\n")[0].split())

    @property
    def values(self) -> dict[str, ChangeParameter]:
        """Its values by name, from the signature of `apply`."""
        hints = get_type_hints(self.apply)
        signature = inspect.signature(self.apply).parameters
        return {
            name: ChangeParameter(
                hints[name], None if parameter.default is parameter.empty else parameter.default
            )
            for name, parameter in signature.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        }


@dataclass(frozen=True)
class ChangeParameter:
    """The type of a value: `int`, `float`, `bool`, `str` or a `Literal`; None: it must be given."""

    kind: Any
    default: Scalar | None

    @property
    def choices(self) -> tuple[str, ...]:
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    def read(self, value: object) -> Scalar:
        """The value in its own type; ValueError says what was expected."""
        if self.choices:
            if str(value) not in self.choices:
                raise ValueError(f"one of {', '.join(self.choices)}")
            return str(value)
        try:
            return self._plain(value)
        except (ValueError, TypeError, OverflowError):
            raise ValueError(_WORDS[self.kind]) from None

    def _plain(self, value: object) -> Scalar:
        if self.kind is bool:
            truth = _TRUTH.get(str(value).lower())
            if truth is None:
                raise ValueError
            return truth
        if self.kind is str:
            return str(value)
        if isinstance(value, bool):
            raise ValueError
        number = float(value)  # type: ignore[arg-type]
        if not math.isfinite(number) or (self.kind is int and number != int(number)):
            raise ValueError
        return int(number) if self.kind is int else number


_DECLARED: dict[str, ChangeSpec] = {}


def change(**declared: Any) -> Callable[[_Apply], _Apply]:
    """Declare a function as a change: its name is the id, its docstring the page; `declared` are the fields
    `knobs`, `above`, `least`, `most` and `alters_loss` of `ChangeSpec`."""

    def declare(apply: _Apply) -> _Apply:
        _DECLARED[apply.__name__] = ChangeSpec(apply.__name__, inspect.getdoc(apply) or "", apply, **declared)
        return apply

    return declare


@cache
def change_specs() -> Mapping[str, ChangeSpec]:
    """All of them by id; torch is not needed to know them."""
    for module in pkgutil.iter_modules(importlib.import_module(_CHANGES).__path__, f"{_CHANGES}."):
        importlib.import_module(module.name)
    return dict(sorted(_DECLARED.items()))


@dataclass(frozen=True)
class Change:
    """One concrete change: what a trial is given and what an edit mirrors."""

    id: str
    values: Mapping[str, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", dict(sorted(self.values.items())))

    def __hash__(self) -> int:
        return hash((self.id, tuple(self.values.items())))

    @property
    def alters_loss(self) -> bool:
        """Whether losses with and without it mean different things."""
        unit = change_specs().get(self.id)
        return unit is not None and unit.alters_loss

    def __str__(self) -> str:
        return " ".join([self.id, *(f"{name}={_value_text(value)}" for name, value in self.values.items())])

    @classmethod
    def parse(cls, text: str) -> Change:
        """`scale_lr factor=0.1`; raises ValueError with one line for the user."""
        id, *words = text.split() or [""]
        pairs = [word.partition("=") for word in words]
        if not all(name and sign and value for name, sign, value in pairs):
            raise ValueError(f"{text!r}: values are given as name=value, like 'scale_lr factor=0.1'.")
        return cls(id, {name: value for name, _, value in pairs}).checked()

    def checked(self) -> Change:
        """The same with every value in its own type and none missing; ValueError says what is wrong."""
        unit = change_specs().get(self.id)
        if unit is None:
            matches = difflib.get_close_matches(self.id, change_specs(), 1)
            hint = f"Did you mean {matches[0]}?" if matches else "'traindx list changes' shows them."
            raise ValueError(f"no change is called {self.id!r}. {hint}")
        parameters = unit.values
        for name in self.values:
            if name not in parameters:
                takes = ", ".join(parameters) or "no values"
                raise ValueError(f"{self.id} has no value {name!r}; it takes {takes}.")
        return Change(self.id, {name: self._read(unit, name, value) for name, value in parameters.items()})

    def _read(self, unit: ChangeSpec, name: str, value: ChangeParameter) -> Scalar:
        requested = self.values.get(name, value.default)
        if requested is None:
            raise ValueError(f"{self.id} needs {name}=..., {_WORDS.get(value.kind, 'a word')}.")
        try:
            parsed = value.read(requested)
        except ValueError as expected:
            raise ValueError(f"{self.id}: {name} must be {expected}, not {requested!r}.") from None
        if isinstance(parsed, int | float):
            _within(unit, name, float(parsed))
        return parsed

    def to_json(self) -> dict[str, Scalar]:
        return {"id": self.id, **self.values}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Change:
        return cls(
            str(document["id"]), {name: value for name, value in document.items() if name != "id"}
        ).checked()


def _within(unit: ChangeSpec, name: str, value: float) -> None:
    if name in unit.above and not value > unit.above[name]:
        raise ValueError(f"{unit.id}: {name} must be above {unit.above[name]:g}, not {value:g}.")
    if name in unit.least and not value >= unit.least[name]:
        raise ValueError(f"{unit.id}: {name} must be at least {unit.least[name]:g}, not {value:g}.")
    if name in unit.most and not value <= unit.most[name]:
        raise ValueError(f"{unit.id}: {name} must be at most {unit.most[name]:g}, not {value:g}.")


def _value_text(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if not isinstance(value, float) or float(short) == value else repr(value)
