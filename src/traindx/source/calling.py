"""Calls: the script's own functions are followed, a library's are noted."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from traindx.source.attributes import attribute, lookup
from traindx.source.follow_state import Machine
from traindx.source.library import answer, is_module_class, run_layers
from traindx.source.scopes import Scope, declared_outside
from traindx.source.trainers import OPTIMIZERS, run_trainer
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
    Named,
    Spot,
    Unknown,
    Value,
    either,
)

_LAUNCHERS = frozenset(
    """
    torch.multiprocessing.spawn torch.multiprocessing.start_processes accelerate.notebook_launcher
    """.split()
)
_NO_GRAD_DECORATORS = ("no_grad", "inference_mode")


def call(machine: Machine, target: Value, arguments: Arguments, spot: Spot) -> Value:
    """What calling `target` gives."""
    machine.spend()
    if isinstance(target, Function):
        return enter(machine, target, arguments, spot)
    if isinstance(target, Class):
        return instantiate(machine, target, arguments, spot)
    if isinstance(target, Instance):
        return _call_instance(machine, target, arguments, spot)
    if isinstance(target, Either):
        ways = []
        for way, option in enumerate(target.options[:4]):
            with machine.on_arm(spot.node, way):
                ways.append(call(machine, option, arguments, spot))
        return either(spot, ways)
    return _call_library(machine, target, arguments, spot)


def _call_instance(machine: Machine, target: Instance, arguments: Arguments, spot: Spot) -> Value:
    names = ("__call__", "forward", "call") if is_module_class(target.cls) else ("__call__",)
    for name in names:
        if lookup(target.cls, name) is not None:
            machine.event(arguments.to(spot, "apply", target.cls.node.name, target))
            return call(machine, attribute(machine, target, name, spot), arguments, spot)
    return machine.event(arguments.to(spot, "apply", "", target))


def _call_library(machine: Machine, target: Value, arguments: Arguments, spot: Spot) -> Value:
    if isinstance(target, Named):
        library_call = arguments.to(spot, "call", target.name, None)
    elif isinstance(target, Made) and target.kind == "attribute":
        library_call = arguments.to(spot, "method", target.name, target.receiver)
    else:
        library_call = arguments.to(spot, "apply", "", target)
    _hand_over(machine, library_call)
    machine.event(library_call)
    run_trainer(machine, library_call, call)
    if library_call.name == "optimizers" and isinstance(library_call.receiver, Instance):
        return library_call.receiver.attributes.get(OPTIMIZERS, library_call)
    return answer(machine, library_call) if library_call.kind != "apply" else _apply(machine, library_call)


def _apply(machine: Machine, library_call: Made) -> Value:
    """A library's object called: layers pass the value on, one after the other."""
    layer = library_call.receiver
    if isinstance(layer, Made) and layer.name == "functools.partial" and layer.args:
        arguments = Arguments(
            [*layer.args[1:], *library_call.args], {**layer.keywords, **library_call.keywords}
        )
        return call(
            machine, layer.args[0], arguments, library_call.spot or Spot(machine.script.main, ast.Pass())
        )
    return run_layers(machine, library_call, call)


def _hand_over(machine: Machine, library_call: Made) -> None:
    """Functions given to a library are called by it, somehow."""
    arguments = [*library_call.args, *library_call.keywords.values()]
    values = [
        item for value in arguments for item in (value.items if isinstance(value, ListValue) else [value])
    ]
    for value in values:
        if not isinstance(value, Function) or (
            value.node in machine.given_away and library_call.short != "step"
        ):
            continue
        machine.given_away.add(value.node)
        at_once = library_call.short == "step" or library_call.name in _LAUNCHERS
        handed_before, machine.handed = machine.handed, machine.handed or not at_once
        try:
            enter(
                machine,
                value,
                Arguments(_handed_arguments(library_call), open=True),
                library_call.spot or value.spot,
            )
        finally:
            machine.handed = handed_before


def _handed_arguments(library_call: Made) -> list[Value]:
    arguments = library_call.argument(1, "args")
    if library_call.name in _LAUNCHERS and isinstance(arguments, ListValue):
        return [Unknown(library_call.spot, "rank"), *arguments.items]
    threaded = library_call.keywords.get("args") if "target" in library_call.keywords else None
    return list(threaded.items) if isinstance(threaded, ListValue) else []


def enter(machine: Machine, function: Function, arguments: Arguments, spot: Spot | None) -> Value:
    """Follow a function of the script."""
    if not machine.may_enter(function):
        return Unknown(spot)
    scope = Scope(function.scope.source, function.scope, this=function.owner, home=function.home)
    scope.outside = declared_outside(function.node)
    if function.owner is not None:
        arguments = replace(arguments, args=[function.owner, *arguments.args])
    _bind(machine, scope, function, arguments)
    machine.trace.visited.add(function.node)
    machine.functions.append(function.node)
    try:
        with machine.under(_decorator_contexts(function)):
            return machine.run_body(machine, scope, function.node)
    finally:
        machine.functions.pop()


def _decorator_contexts(function: Function) -> list[str]:
    contexts = []
    for node in getattr(function.node, "decorator_list", ()):
        inner = node.func if isinstance(node, ast.Call) else node
        if isinstance(inner, ast.Attribute | ast.Name):
            name = inner.attr if isinstance(inner, ast.Attribute) else inner.id
            if name in _NO_GRAD_DECORATORS:
                contexts.append(f"torch.{name}")
    return contexts


def _bind(machine: Machine, scope: Scope, function: Function, arguments: Arguments) -> None:
    """Parameters get what they are called with, else their default, else nothing known."""
    from traindx.source.expressions import evaluate

    args, keywords = arguments.args, arguments.keywords
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
        elif name in defaults and not arguments.open:
            value = _default(machine, evaluate(machine, function.scope, defaults[name]), function)
        else:
            value = Unknown(Spot(scope.source, parameter), name)
        scope.names[name] = value
    if spec.vararg is not None:
        rest = list(args[len(names) :])
        scope.names[spec.vararg.arg] = ListValue(None, rest, "tuple", arguments.open)
    if spec.kwarg is not None:
        parameter_names = {a.arg for a in [*names, *spec.kwonlyargs]}
        rest_keywords: dict[object, Value] = {k: v for k, v in keywords.items() if k not in parameter_names}
        scope.names[spec.kwarg.arg] = DictValue(None, rest_keywords, arguments.open)


def _default(machine: Machine, value: Value, function: Function) -> Value:
    """A default holds where the script itself calls the function; else somebody may give another value."""
    unsure = isinstance(value, Const) and machine.root is not None and function.node is machine.root
    return Const(value.spot, value.value, soft=True) if unsure and isinstance(value, Const) else value


def instantiate(machine: Machine, cls: Class, arguments: Arguments, spot: Spot) -> Value:
    """An object of a class of the script."""
    instance = Instance(spot, cls)
    machine.trace.instances.append(instance)
    init = lookup(cls, "__init__")
    if init is not None and isinstance(init[0], Function):
        method = Function(init[0].spot, init[0].node, init[0].scope, instance, init[1])
        if any(name.startswith("lightning.") for name in cls.library_bases):
            instance.attributes["hparams"] = _hyperparameters(machine, method, arguments)
        call(machine, method, arguments, spot)
    else:
        fields = [name for ancestor in reversed(list(cls.line_of_descent)) for name in _fields(ancestor)]
        instance.attributes |= (
            dict(zip(dict.fromkeys(fields), arguments.args, strict=False)) | arguments.keywords
        )
        unset = [name for name in fields if name not in instance.attributes]
        instance.attributes |= _from_factories(machine, cls, unset)
        post_init = lookup(cls, "__post_init__")
        if post_init is not None and isinstance(post_init[0], Function):
            call(machine, attribute(machine, instance, "__post_init__", spot), Arguments(), spot)
    machine.event(arguments.to(spot, "call", cls.node.name, instance))
    return instance


def _hyperparameters(machine: Machine, init: Function, arguments: Arguments) -> DictValue:
    """What Lightning's `save_hyperparameters` keeps: the arguments of the constructor."""
    scope = Scope(init.scope.source, init.scope)
    _bind(machine, scope, init, replace(arguments, args=[init.owner or Unknown(None), *arguments.args]))
    values: dict[object, Value] = {
        name: value for name, value in scope.names.items() if value is not init.owner
    }
    return DictValue(init.spot, values, open=True)


def _from_factories(machine: Machine, cls: Class, names: Sequence[str]) -> dict[str, Value]:
    """The fields of a dataclass that are made for each object: `field(default_factory=...)`."""
    values: dict[str, Value] = {}
    for name in dict.fromkeys(names):
        default = (lookup(cls, name) or (None, cls))[0]
        if isinstance(default, Made) and default.name == "dataclasses.field" and default.spot is not None:
            factory = default.keywords.get("default_factory")
            if isinstance(factory, Function | Class):
                values[name] = call(machine, factory, Arguments(), default.spot)
    return values


def _fields(cls: Class) -> list[str]:
    """The annotated names of a class body, in order: the fields of a dataclass."""
    return [
        statement.target.id
        for statement in cls.node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]


def unknown_arguments(function: Function) -> list[Value]:
    """Arguments of which nothing but the names are known, for functions that nothing calls."""
    spec = function.node.args
    names = [*spec.posonlyargs, *spec.args]
    needed = names[: len(names) - len(spec.defaults)]
    skip = 1 if function.owner is not None else 0
    return [Unknown(Spot(function.scope.source, parameter), parameter.arg) for parameter in needed[skip:]]
