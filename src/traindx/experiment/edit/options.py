"""Options of the command line: whether one is given there, and the line with another value."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from traindx.experiment.edit.nodes import ancestors, last_name
from traindx.source.script import Source
from traindx.source.values import Const, Spot, Unknown, Value

_MAKERS = {"add_argument", "option", "Option", "DEFINE_float", "DEFINE_integer"}


@dataclass(frozen=True)
class CommandOption:
    """An option: its flags, and where its default is written (None when it has none)."""

    flags: tuple[str, ...]
    default: Spot | None


def option_of(value: Value) -> CommandOption | None:
    """The option that a value comes from; None when it is not one."""
    if value.spot is None:
        return None
    source, node = value.spot.source, value.spot.node
    if isinstance(value, Const) and value.soft:
        call = next(
            (ancestor for ancestor in ancestors(source, node) if isinstance(ancestor, ast.Call)), None
        )
        return CommandOption(_flags(call), value.spot) if call is not None and _flags(call) else None
    if isinstance(value, Unknown) and isinstance(node, ast.Call) and last_name(node) == "add_argument":
        return CommandOption(_flags(node), None)
    if isinstance(value, Unknown) and value.name:
        return _decorated(source, node, value.name)
    return None


def option_around(spot: Spot) -> CommandOption | None:
    """The option whose default an expression is: `add_argument("--config", default=str(...))`."""
    keyword = spot.source.parents.get(spot.node)
    call = spot.source.parents.get(keyword) if isinstance(keyword, ast.keyword) else None
    if not isinstance(keyword, ast.keyword) or keyword.arg != "default" or call is None:
        return None
    return CommandOption(_flags(call), spot) if _flags(call) else None


def _decorated(source: Source, node: ast.AST, name: str) -> CommandOption | None:
    """The option of a function whose parameters a library reads from the command line."""
    chain = [node, *ancestors(source, node)]
    function = next((node for node in chain if isinstance(node, ast.FunctionDef)), None)
    if function is None:
        return None
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and last_name(decorator) == "option":
            flags = _flags(decorator)
            plain = [str(c.value) for c in decorator.args if isinstance(c, ast.Constant)]
            long = [flag.lstrip("-").replace("-", "_").split("/")[0] for flag in flags]
            if name in long or name in plain:
                return CommandOption(flags, _default(source, decorator))
    return None


def _default(source: Source, call: ast.Call) -> Spot | None:
    default = next((keyword.value for keyword in call.keywords if keyword.arg == "default"), None)
    return Spot(source, default) if isinstance(default, ast.Constant) else None


def _flags(call: ast.AST) -> tuple[str, ...]:
    if not isinstance(call, ast.Call) or last_name(call) not in _MAKERS:
        return ()
    texts = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    return tuple(text for text in texts if isinstance(text, str) and text.startswith("-"))


def given_value(args: Sequence[str], option: CommandOption) -> tuple[int, str] | None:
    """Where on the command line an option's value is, and the value."""
    value_at = None
    for at, token in enumerate(args):
        name, equals, value = token.partition("=")
        if not _is(name, option.flags):
            continue
        if equals:
            value_at = (at, value)
        elif at + 1 < len(args):
            value_at = (at + 1, args[at + 1])
    return value_at


def _is(token: str, flags: Sequence[str]) -> bool:
    """A flag itself; a long one may be cut short."""
    if token in flags:
        return True
    return token.startswith("--") and len(token) > 3 and any(flag.startswith(token) for flag in flags)


def with_value(args: Sequence[str], at: int, value: str) -> tuple[str, ...]:
    """The command line with another value at one place."""
    name, equals, _ = args[at].partition("=")
    new = f"{name}={value}" if equals and name.startswith("-") else value
    return (*args[:at], new, *args[at + 1 :])
