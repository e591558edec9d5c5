"""The value of an expression of a script: constants, layers, tensors, functions, or nothing known.

A value remembers where it was written (`spot`) and what it was made of, so that one can ask of the loss
which layer its input came through, and of a learning rate on which line its number is written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from traindx.source.scopes import Scope
    from traindx.source.script import Source

Kind = Literal["call", "method", "apply", "attribute", "item", "operator"]


@dataclass(frozen=True, eq=False)
class Spot:
    """A piece of source: the file and the syntax node."""

    source: Source
    node: ast.AST

    @property
    def line(self) -> int:
        return int(getattr(self.node, "lineno", 1))

    @property
    def last_line(self) -> int:
        return int(getattr(self.node, "end_lineno", None) or self.line)

    @property
    def text(self) -> str:
        """The code itself, on one line."""
        try:
            return " ".join(ast.unparse(self.node).split())
        except (ValueError, RecursionError, AttributeError):
            return self.source.lines[self.line - 1].strip()


@dataclass(eq=False)
class Value:
    """Anything; two values are the same only when they are one object."""

    spot: Spot | None


@dataclass(eq=False)
class Const(Value):
    """A number, text, truth value or None, with the place where it is written.

    `soft` when it is only a default, such as that of an option.
    """

    value: str | int | float | bool | complex | bytes | None
    soft: bool = False


@dataclass(eq=False)
class ListValue(Value):
    """A list, tuple or set; `open` when it may hold more than is known."""

    items: list[Value]
    kind: str = "list"
    open: bool = False


@dataclass(eq=False)
class DictValue(Value):
    """A dict; `open` when it may hold more than is known."""

    items: dict[object, Value]
    open: bool = False


@dataclass(eq=False)
class Named(Value):
    """A module, class or function of a library: `torch.nn.functional`."""

    name: str


@dataclass(eq=False)
class Module(Value):
    """A file of the script, imported."""

    scope: Scope


@dataclass(eq=False)
class Super(Value):
    """`super()`: an object seen as one of a class's bases."""

    this: Value
    home: Class


@dataclass(eq=False)
class Function(Value):
    """A function, method or lambda of the script; `owner` is what it is bound to."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    owner: Value | None = None
    home: Class | None = None

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")


@dataclass(eq=False)
class Class(Value):
    """A class of the script with what its body binds."""

    node: ast.ClassDef
    scope: Scope
    bases: list[Value]
    attributes: dict[str, Value]

    @property
    def line_of_descent(self) -> Iterator[Class]:
        """The class and its bases in the script, itself first."""
        yield self
        for base in self.bases:
            if isinstance(base, Class) and base is not self:
                yield from base.line_of_descent

    @property
    def library_bases(self) -> list[str]:
        """The names of the library classes it comes from."""
        return [b.name for cls in self.line_of_descent for b in cls.bases if isinstance(b, Named)]

    @property
    def understood(self) -> bool:
        """Whether every base is known: the script's own or a library's."""
        return all(isinstance(b, Class | Named) for cls in self.line_of_descent for b in cls.bases)


@dataclass(eq=False)
class Instance(Value):
    """An object of a class of the script."""

    cls: Class
    attributes: dict[str, Value] = field(default_factory=dict)


@dataclass(eq=False)
class Made(Value):
    """The result of a call, an operator or an access that is not the script's own.

    `call`: a library's function or class, `name` its dotted name. `method`: `receiver.name(...)`.
    `apply`: a layer or other object called, `receiver(...)`. `attribute`: `receiver.name`.
    `item`: `receiver[...]`. `operator`: `name` is the operator, `args` its operands.
    `graded` unless it was made where gradients are off.
    """

    kind: Kind
    name: str
    receiver: Value | None = None
    args: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    open: bool = False
    graded: bool = True

    @property
    def short(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]

    def argument(self, place: int, *names: str) -> Value | None:
        """An argument by its keyword names or its place; None when it is not given."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return self.args[place] if 0 <= place < len(self.args) else None


@dataclass(frozen=True, eq=False)
class Arguments:
    """The arguments of a call; `open` when there may be more than is known."""

    args: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    open: bool = False

    def to(self, spot: Spot, kind: Kind, name: str, receiver: Value | None) -> Made:
        """The result of a call with these arguments."""
        return Made(spot, kind, name, receiver, self.args, self.keywords, self.open)


@dataclass(eq=False)
class Either(Value):
    """One of several values, depending on the branch taken."""

    options: list[Value]


@dataclass(eq=False)
class Unknown(Value):
    """Nothing is known but, perhaps, the name of the variable."""

    name: str = ""


def either(spot: Spot | None, values: list[Value]) -> Value:
    """The join of the values of several branches: one value when they agree."""
    flat: list[Value] = []
    for value in values:
        for option in value.options if isinstance(value, Either) else [value]:
            if not any(option is alternative or _equal(option, alternative) for alternative in flat):
                flat.append(option)
    if len(flat) == 1:
        return flat[0]
    return Either(spot, flat[:8]) if flat else Unknown(spot)


def _equal(first: Value, second: Value) -> bool:
    return (
        isinstance(first, Const)
        and isinstance(second, Const)
        and type(first.value) is type(second.value)
        and first.value == second.value
    )


def options(value: Value | None) -> list[Value]:
    """The possible values, one by one."""
    if value is None:
        return []
    return list(value.options) if isinstance(value, Either) else [value]


def number(value: Value | None) -> float | None:
    """A value that is certainly one number."""
    if (
        isinstance(value, Const)
        and isinstance(value.value, int | float)
        and not isinstance(value.value, bool)
    ):
        return float(value.value)
    return None


def parents(value: Value) -> list[Value]:
    """The values that a value was computed from."""
    if isinstance(value, Made):
        first = [value.receiver] if value.receiver is not None else []
        return [*first, *value.args, *value.keywords.values()]
    if isinstance(value, Either):
        return list(value.options)
    if isinstance(value, ListValue):
        return list(value.items)
    return []


def upstream(
    starts: list[Value], sources_of: Callable[[Value], list[Value]] = parents, most: int = 400
) -> Iterator[Value]:
    """Values and what they were made of, the nearest first, at most so many."""
    waiting = list(starts)
    for _ in range(most):
        if not waiting:
            return
        at = waiting.pop(0)
        yield at
        waiting += sources_of(at)
