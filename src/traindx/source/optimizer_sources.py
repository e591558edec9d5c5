"""The modules whose parameters an optimizer was given."""

from __future__ import annotations

from collections.abc import Iterator

from traindx.source.values import DictValue, ListValue, Made, Value, options


def sources(optimizer: Value) -> list[Value]:
    """The modules whose parameters an optimizer was given."""
    if not isinstance(optimizer, Made) or not optimizer.args:
        return []
    modules: list[Value] = []
    for source in _parameter_values(optimizer.args[0]):
        modules += owners_of(source)
    return modules


def _parameter_values(value: Value, depth: int = 4) -> Iterator[Value]:
    """What an optimizer is given, one by one: lists and groups are opened."""
    for option in options(value):
        if isinstance(option, ListValue) and depth:
            for inner in option.items:
                yield from _parameter_values(inner, depth - 1)
        elif isinstance(option, DictValue) and "params" in option.items:
            yield from _parameter_values(option.items["params"], depth - 1)
        else:
            yield option


def owners_of(value: Value) -> list[Value]:
    """The modules that a parameter, or an iterator over parameters, comes from."""
    for _ in range(6):
        if not isinstance(value, Made):
            return []
        if value.kind == "method" and value.name in ("parameters", "named_parameters"):
            return options(value.receiver)
        inner = value.args[-1] if value.name == "filter" and value.args else value.receiver
        if inner is None:
            return []
        value = inner
    return []


def known_parameters(optimizer: Value) -> bool:
    """Whether everything an optimizer was given are the parameters of known modules."""
    if not isinstance(optimizer, Made) or optimizer.kind != "call" or not optimizer.args or optimizer.open:
        return False
    values = list(flat(optimizer.args[0]))
    modules = sources(optimizer)
    return (
        bool(modules) and len(values) <= len(modules) and all(module.spot is not None for module in modules)
    )


def flat(value: Value) -> Iterator[Value]:
    """The possible values, those of a list one by one."""
    for option in options(value):
        if isinstance(option, ListValue):
            for inner in option.items:
                yield from options(inner)
        else:
            yield option
