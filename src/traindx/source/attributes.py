"""Attributes, items and elements of values."""

from __future__ import annotations

from traindx.source.follow_state import Machine
from traindx.source.values import (
    Arguments,
    Class,
    Const,
    DictValue,
    Either,
    Function,
    Instance,
    ListValue,
    Made,
    Module,
    Named,
    Spot,
    Super,
    Unknown,
    Value,
    either,
)

_WRAPPERS = {"module", "_orig_mod", "_forward_module"}


def attribute(machine: Machine, of: Value, name: str, spot: Spot) -> Value:
    """`of.name`."""
    if isinstance(of, Named):
        return Named(spot, canonical(f"{of.name}.{name}"))
    if isinstance(of, Module):
        return of.scope.names.get(name) or Unknown(spot, name)
    if isinstance(of, Instance):
        return _of_instance(machine, of, name, spot)
    if isinstance(of, Super):
        return _of_super(of, name, spot)
    if isinstance(of, Class):
        member = lookup(of, name)
        return member[0] if member else Made(spot, "attribute", name, of)
    if isinstance(of, DictValue) and name in of.items:
        return of.items[name]
    if isinstance(of, Either):
        ways = [attribute(machine, option, name, spot) for option in of.options]
        unknown = all(isinstance(way, Made) and way.kind == "attribute" and way.spot is spot for way in ways)
        return Made(spot, "attribute", name, of) if unknown else either(spot, ways)
    if name in _WRAPPERS and isinstance(of, Made) and of.kind == "call":
        return of
    return Made(spot, "attribute", name, of)


def _of_instance(machine: Machine, of: Instance, name: str, spot: Spot) -> Value:
    if name in of.attributes:
        return of.attributes[name]
    member = lookup(of.cls, name)
    if member is None:
        return of if name in _WRAPPERS else Made(spot, "attribute", name, of)
    value, home = member
    if not isinstance(value, Function):
        return value
    decorators = {_decorator(decorator) for decorator in getattr(value.node, "decorator_list", ())}
    if "staticmethod" in decorators:
        return value
    bound = Function(value.spot, value.node, value.scope, of, home)
    if decorators & {"property", "cached_property", "functools.cached_property"}:
        from traindx.source.calling import call

        return call(machine, bound, Arguments(), spot)
    return bound


def _of_super(of: Super, name: str, spot: Spot) -> Value:
    for base in of.home.bases:
        member = lookup(base, name) if isinstance(base, Class) else None
        if member is not None and isinstance(member[0], Function):
            return Function(member[0].spot, member[0].node, member[0].scope, of.this, member[1])
    return Made(spot, "attribute", f"super.{name}", of.this)


def _decorator(node: object) -> str:
    import ast

    return ast.unparse(node) if isinstance(node, ast.AST) else ""


def lookup(of: Class, name: str) -> tuple[Value, Class] | None:
    """What a class has under a name, and the class it comes from."""
    for cls in of.line_of_descent:
        if name in cls.attributes:
            return cls.attributes[name], cls
    return None


def canonical(name: str) -> str:
    """One name for what libraries offer under several."""
    for long, short in _SAME:
        if name == long or name.startswith(long + "."):
            return short + name[len(long) :]
    return name


_SAME = (
    ("tensorflow.compat.v1.keras", "keras"),
    ("tensorflow.compat.v2.keras", "keras"),
    ("tensorflow.python.keras", "keras"),
    ("tensorflow.keras", "keras"),
    ("keras.api", "keras"),
    ("pytorch_lightning", "lightning"),
    ("lightning.pytorch", "lightning"),
    ("torch.nn.modules", "torch.nn"),
    ("torch.autograd.grad_mode", "torch.autograd"),
)


def item(of: Value, key: Value, spot: Spot) -> Value:
    """`of[key]`."""
    if isinstance(key, Const):
        if isinstance(of, DictValue):
            value = of.items.get(key.value, of.items.get(...))
            return value if value is not None else Unknown(spot, str(key.value))
        if isinstance(of, ListValue) and isinstance(key.value, int):
            in_range = not of.open and -len(of.items) <= key.value < len(of.items)
            if in_range or (of.open and key.value == -1 and of.items):
                return of.items[key.value]
            return either(spot, of.items) if of.open and of.kind == "comprehension" else Unknown(spot)
    if isinstance(of, Either):
        return either(spot, [item(option, key, spot) for option in of.options])
    if isinstance(of, ListValue) and of.items and not isinstance(key, Const):
        return either(spot, of.items)
    if isinstance(of, DictValue) and holds_optimizers(of):
        return either(spot, [*of.items.values()])
    return Made(spot, "item", "[]", of, [key])


def holds_optimizers(table: DictValue) -> bool:
    """Whether a table gives a class of optimizer by its name, and nothing else."""
    is_optimizer = [
        isinstance(value, Named) and value.name.startswith("torch.optim.") for value in table.items.values()
    ]
    return bool(is_optimizer) and all(is_optimizer)


def element(of: Value, spot: Spot) -> Value:
    """What a loop over `of` gives in turn."""
    if isinstance(of, ListValue) and of.items:
        return either(spot, of.items)
    if isinstance(of, Either):
        return either(spot, [element(option, spot) for option in of.options])
    if isinstance(of, Made):
        special = _ELEMENTS.get(of.name if of.kind in ("call", "method") else "")
        if special is not None:
            return special(of, spot)
    if isinstance(of, DictValue):
        return Unknown(spot)
    return Made(spot, "item", "each", of)


def _counted(of: Made, spot: Spot) -> Value:
    inner = of.argument(0, "iterable", "sequence")
    return ListValue(
        spot, [Unknown(spot, "index"), element(inner, spot) if inner else Unknown(spot)], "tuple"
    )


def _zipped(of: Made, spot: Spot) -> Value:
    return ListValue(spot, [element(argument, spot) for argument in of.args], "tuple", of.open)


def _same_element(of: Made, spot: Spot) -> Value:
    inner = of.argument(0, "iterable", "sequence")
    return element(inner, spot) if inner is not None else Unknown(spot)


def _index(_of: Made, spot: Spot) -> Value:
    return Unknown(spot, "index")


def _pairs(of: Made, spot: Spot) -> Value:
    values = list(of.receiver.items.values()) if isinstance(of.receiver, DictValue) else []
    return ListValue(spot, [Unknown(spot, "key"), either(spot, values) if values else Unknown(spot)], "tuple")


def _values(of: Made, spot: Spot) -> Value:
    values = list(of.receiver.items.values()) if isinstance(of.receiver, DictValue) else []
    return either(spot, values) if values else Unknown(spot)


_ELEMENTS = {
    "enumerate": _counted,
    "zip": _zipped,
    "range": _index,
    "tqdm": _same_element,
    "reversed": _same_element,
    "sorted": _same_element,
    "items": _pairs,
    "values": _values,
    "itertools.islice": _same_element,
    "itertools.cycle": _same_element,
}
