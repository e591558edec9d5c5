"""Calls: the script's own functions are followed, a library's are noted."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traindx.source.attributes import attribute, lookup
from traindx.source.follow_state import Machine
from traindx.source.library import answer, is_module_class, run_layers
from traindx.source.scopes import Scope, declared_outside
from traindx.source.values import (
    Class,
    Const,
    Either,
    Function,
    Instance,
    Items,
    Made,
    Named,
    Spot,
    Table,
    Unknown,
    Value,
    either,
)

_LAUNCHERS = {
    "torch.multiprocessing.spawn",
    "torch.multiprocessing.start_processes",
    "accelerate.notebook_launcher",
}
_NO_GRAD_DECORATORS = ("no_grad", "inference_mode")


def call(
    machine: Machine,
    target: Value,
    args: list[Value],
    keywords: dict[str, Value],
    spot: Spot,
    *,
    open_ended: bool = False,
) -> Value:
    """What calling `target` gives."""
    machine.spend()
    if isinstance(target, Function):
        return enter(machine, target, args, keywords, spot, open_ended=open_ended)
    if isinstance(target, Class):
        return instantiate(machine, target, args, keywords, spot, open_ended=open_ended)
    if isinstance(target, Instance):
        return _call_instance(machine, target, args, keywords, spot, open_ended)
    if isinstance(target, Either):
        ways = []
        for way, one in enumerate(target.options[:4]):
            with machine.on_arm(spot.node, way):
                ways.append(call(machine, one, args, keywords, spot, open_ended=open_ended))
        return either(spot, ways)
    return _call_library(machine, target, args, keywords, spot, open_ended)


def _call_instance(
    machine: Machine,
    target: Instance,
    args: list[Value],
    keywords: dict[str, Value],
    spot: Spot,
    open_ended: bool,
) -> Value:
    names = ("__call__", "forward", "call") if is_module_class(target.cls) else ("__call__",)
    for name in names:
        found = lookup(target.cls, name)
        if found is not None:
            machine.event(Made(spot, "apply", target.cls.node.name, target, args, keywords, open_ended))
            method = attribute(machine, target, name, spot)
            return call(machine, method, args, keywords, spot, open_ended=open_ended)
    return machine.event(Made(spot, "apply", "", target, args, keywords, open_ended))


def _call_library(
    machine: Machine,
    target: Value,
    args: list[Value],
    keywords: dict[str, Value],
    spot: Spot,
    open_ended: bool,
) -> Value:
    if isinstance(target, Named):
        made = Made(spot, "call", target.name, None, args, keywords, open_ended)
    elif isinstance(target, Made) and target.kind == "attribute":
        made = Made(spot, "method", target.name, target.receiver, args, keywords, open_ended)
    else:
        made = Made(spot, "apply", "", target, args, keywords, open_ended)
    _hand_over(machine, made)
    machine.event(made)
    return answer(machine, made) if made.kind != "apply" else _apply(machine, made)


def _apply(machine: Machine, made: Made) -> Value:
    """A library's object called: layers pass the value on, one after the other."""
    layer = made.receiver
    if isinstance(layer, Made) and layer.name == "functools.partial" and layer.args:
        args = [*layer.args[1:], *made.args]
        keywords = {**layer.keywords, **made.keywords}
        return call(
            machine, layer.args[0], args, keywords, made.spot or Spot(machine.script.main, ast.Pass())
        )
    return run_layers(machine, made, call)


def _hand_over(machine: Machine, made: Made) -> None:
    """Functions given to a library are called by it, somehow."""
    given = [*made.args, *made.keywords.values()]
    flat = [one for value in given for one in (value.items if isinstance(value, Items) else [value])]
    for value in flat:
        if not isinstance(value, Function) or (value.node in machine.given_away and made.short != "step"):
            continue
        machine.given_away.add(value.node)
        now = made.short == "step" or made.name in _LAUNCHERS
        before, machine.handed = machine.handed, machine.handed or not now
        try:
            enter(machine, value, _handed_arguments(made), {}, made.spot or value.spot, open_ended=True)
        finally:
            machine.handed = before


def _handed_arguments(made: Made) -> list[Value]:
    given = made.argument(1, "args")
    if made.name in _LAUNCHERS and isinstance(given, Items):
        return [Unknown(made.spot, "rank"), *given.items]
    threaded = made.keywords.get("args") if "target" in made.keywords else None
    return list(threaded.items) if isinstance(threaded, Items) else []


def enter(
    machine: Machine,
    function: Function,
    args: list[Value],
    keywords: dict[str, Value],
    spot: Spot | None,
    *,
    open_ended: bool = False,
) -> Value:
    """Follow a function of the script."""
    if not machine.may_enter(function):
        return Unknown(spot)
    scope = Scope(function.scope.source, function.scope, this=function.owner, home=function.home)
    scope.outside = declared_outside(function.node)
    given = [function.owner, *args] if function.owner is not None else list(args)
    _bind(machine, scope, function, given, keywords, open_ended)
    machine.trace.visited.add(function.node)
    machine.functions.append(function.node)
    try:
        with machine.under(_decorator_contexts(machine, function)):
            return machine.run_body(machine, scope, function.node)
    finally:
        machine.functions.pop()


def _decorator_contexts(machine: Machine, function: Function) -> list[str]:
    found = []
    for node in getattr(function.node, "decorator_list", ()):
        inner = node.func if isinstance(node, ast.Call) else node
        if isinstance(inner, ast.Attribute | ast.Name):
            name = inner.attr if isinstance(inner, ast.Attribute) else inner.id
            if name in _NO_GRAD_DECORATORS:
                found.append(f"torch.{name}")
    del machine
    return found


def _bind(
    machine: Machine,
    scope: Scope,
    function: Function,
    args: Sequence[Value],
    keywords: dict[str, Value],
    open_ended: bool,
) -> None:
    """Parameters get what they are called with, else their default, else nothing known."""
    from traindx.source.expressions import evaluate

    spec = function.node.args
    names = [*spec.posonlyargs, *spec.args]
    defaults = dict(
        zip([a.arg for a in names[len(names) - len(spec.defaults) :]], spec.defaults, strict=True)
    )
    defaults |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
    for at, parameter in enumerate([*names, *spec.kwonlyargs]):
        name = parameter.arg
        if name in keywords:
            value: Value = keywords[name]
        elif at < len(names) and at < len(args):
            value = args[at]
        elif name in defaults and not open_ended:
            value = _default(machine, evaluate(machine, function.scope, defaults[name]), function)
        else:
            value = Unknown(Spot(scope.source, parameter), name)
        scope.names[name] = value
    if spec.vararg is not None:
        rest = list(args[len(names) :])
        scope.names[spec.vararg.arg] = Items(None, rest, "tuple", open_ended)
    if spec.kwarg is not None:
        taken = {a.arg for a in [*names, *spec.kwonlyargs]}
        rest_keywords: dict[object, Value] = {k: v for k, v in keywords.items() if k not in taken}
        scope.names[spec.kwarg.arg] = Table(None, rest_keywords, open_ended)


def _default(machine: Machine, value: Value, function: Function) -> Value:
    """A default holds where the script itself calls the function; else somebody may give another value."""
    unsure = isinstance(value, Const) and machine.root is not None and function.node is machine.root
    return Const(value.spot, value.value, soft=True) if unsure and isinstance(value, Const) else value


def instantiate(
    machine: Machine,
    cls: Class,
    args: list[Value],
    keywords: dict[str, Value],
    spot: Spot,
    *,
    open_ended: bool = False,
) -> Value:
    """An object of a class of the script."""
    made = Instance(spot, cls)
    machine.trace.instances.append(made)
    found = lookup(cls, "__init__")
    if found is not None and isinstance(found[0], Function):
        method = Function(found[0].spot, found[0].node, found[0].scope, made, found[1])
        call(machine, method, args, keywords, spot, open_ended=open_ended)
    else:
        fields = [name for one in reversed(list(cls.line_of_descent)) for name in _fields(one)]
        made.attributes |= dict(zip(dict.fromkeys(fields), args, strict=False)) | keywords
        left = [one for one in fields if one not in made.attributes]
        made.attributes |= _from_factories(machine, cls, left)
        after = lookup(cls, "__post_init__")
        if after is not None and isinstance(after[0], Function):
            call(machine, attribute(machine, made, "__post_init__", spot), [], {}, spot)
    machine.event(Made(spot, "call", cls.node.name, made, args, keywords, open_ended))
    return made


def _from_factories(machine: Machine, cls: Class, names: Sequence[str]) -> dict[str, Value]:
    """The fields of a dataclass that are made anew for each object: `field(default_factory=...)`."""
    found: dict[str, Value] = {}
    for name in dict.fromkeys(names):
        given = (lookup(cls, name) or (None, cls))[0]
        if isinstance(given, Made) and given.name == "dataclasses.field" and given.spot is not None:
            factory = given.keywords.get("default_factory")
            if isinstance(factory, Function | Class):
                found[name] = call(machine, factory, [], {}, given.spot)
    return found


def _fields(cls: Class) -> list[str]:
    """The annotated names of a class body, in order: the fields of a dataclass."""
    return [
        one.target.id
        for one in cls.node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    ]


def unknown_arguments(function: Function) -> list[Value]:
    """Arguments of which nothing but the names are known, for functions that nothing calls."""
    spec = function.node.args
    names = [*spec.posonlyargs, *spec.args]
    needed = names[: len(names) - len(spec.defaults)]
    skip = 1 if function.owner is not None else 0
    return [Unknown(Spot(function.scope.source, one), one.arg) for one in needed[skip:]]


def none(spot: Spot | None) -> Const:
    return Const(spot, None)
