"""The results of some library calls: wrappers return what they wrap, layers are run, options are read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from traindx.source.attributes import element, holds_optimizers
from traindx.source.follow_state import Machine
from traindx.source.values import (
    Arguments,
    Class,
    Const,
    DictValue,
    Either,
    Instance,
    ListValue,
    Made,
    Named,
    Spot,
    Unknown,
    Value,
    either,
)

# Give back what they are given, changed in no way that matters here.
_WRAPPERS = frozenset(
    """
    torch.compile torch.jit.script torch.nn.DataParallel torch.nn.parallel.DataParallel
    torch.nn.parallel.DistributedDataParallel torch.nn.parallel.distributed.DistributedDataParallel
    torch.nn.SyncBatchNorm.convert_sync_batchnorm torch.distributed.fsdp.FullyShardedDataParallel
    apex.parallel.DistributedDataParallel tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.trange iter
    list tuple copy.copy vars rich.progress.track fastprogress.progress_bar typing.cast
    """.split()
)
_SAME_OBJECT = frozenset(
    """
    to cuda cpu float double half bfloat16 requires_grad_ train eval compile
    """.split()
)
_PREPARES = {"prepare", "setup", "setup_dataloaders", "setup_module", "setup_optimizers"}
_MODULE_BASES = {"Module", "LightningModule", "Model", "Layer", "PreTrainedModel", "Sequential"}
_CHAINS = {"torch.nn.Sequential", "keras.Sequential", "keras.models.Sequential"}


def is_module_class(cls: Class) -> bool:
    """Whether objects of a class are layers or models of a library."""
    return any(name.rpartition(".")[2] in _MODULE_BASES for name in cls.library_bases)


def answer(machine: Machine, call: Made) -> Value:
    """What a library's function or method gives."""
    if call.kind == "call":
        if call.name in _WRAPPERS and (call.args or call.keywords):
            return (
                call.args[-1] if call.name == "typing.cast" else (call.args or [*call.keywords.values()])[0]
            )
        builtin = _CALLS.get(call.name)
        return builtin(call) if builtin is not None else call
    receiver = call.receiver
    if call.name in _SAME_OBJECT and _is_object(receiver):
        return receiver or call
    if call.name in _PREPARES and call.args and not isinstance(receiver, Instance):
        return call.args[0] if len(call.args) == 1 else ListValue(call.spot, list(call.args), "tuple")
    if isinstance(receiver, ListValue | DictValue):
        return _of_container(machine, call, receiver)
    if call.name in ("parse_args", "parse_known_args", "parse_args_into_dataclasses"):
        return _options(machine, call)
    return call


def _is_object(value: Value | None) -> bool:
    """A model, a layer or the like: what `.to()` and `.train()` give back as it is."""
    if isinstance(value, Either):
        return all(_is_object(option) for option in value.options)
    if isinstance(value, Instance):
        return True
    if not isinstance(value, Made) or value.kind != "call":
        return False
    return is_model_library(value.name) or (value.short[:1].isupper() and value.short != "Tensor")


def is_model_library(name: str) -> bool:
    """Whether a function of this name gives a ready-made model."""
    return name.startswith(("torchvision.models.", "timm.create_model", "torch.hub.load")) or (
        name.startswith("transformers.") and name.endswith(".from_pretrained")
    )


def _of_container(machine: Machine, call: Made, holder: ListValue | DictValue) -> Value:
    first = call.args[0] if call.args else None
    if isinstance(holder, ListValue):
        if call.name in ("append", "add", "insert") and call.args:
            holder.items.append(call.args[-1])
            holder.open |= bool(machine.loops) or bool(machine.arms) or call.name == "insert"
        elif call.name == "extend" and first is not None:
            holder.items += (
                first.items if isinstance(first, ListValue) else [element(first, call.spot or _nowhere())]
            )
            holder.open |= not isinstance(first, ListValue) or first.open or bool(machine.loops)
        elif call.name in ("pop", "clear", "remove"):
            holder.open = True
        return call
    if call.name == "get" and isinstance(first, Const):
        entry = holder.items.get(first.value)
        return entry if entry is not None else (call.argument(1, "default") or Unknown(call.spot))
    if call.name == "get" and holds_optimizers(holder):
        return either(call.spot, [*holder.items.values()])
    if call.name == "update":
        entries = first.items if isinstance(first, DictValue) else {}
        holder.items |= entries
        holder.items.update(call.keywords)
        holder.open |= first is not None and not isinstance(first, DictValue)
    return call


def _nowhere() -> Spot:
    raise LookupError("a call without a place")


def _options(machine: Machine, call: Made) -> Value:
    """The options of a command line: what was given where that is known, else their defaults."""
    parser, given = _root(call.receiver), machine.script.arguments
    defaults: dict[object, Value] = {}
    for event in machine.trace.events:
        if event.value.name == "add_argument" and _root(event.value.receiver) is parser:
            name = _destination(event.value)
            if name:
                defaults[name] = _given(event.value, given) or _default(event.value)
        if event.value.name == "set_defaults" and _root(event.value.receiver) is parser:
            defaults.update(event.value.keywords)
    table = DictValue(call.spot, defaults, open=True)
    if call.name == "parse_known_args":
        return ListValue(call.spot, [table, Unknown(call.spot)], "tuple")
    return table


def _root(value: Value | None) -> Value | None:
    """The parser behind a group of options."""
    while isinstance(value, Made) and value.kind == "method" and value.receiver is not None:
        value = value.receiver
    return value


def _destination(option: Made) -> str:
    destination = option.keywords.get("dest")
    if isinstance(destination, Const):
        return str(destination.value)
    names = [str(argument.value) for argument in option.args if isinstance(argument, Const)]
    long = next((name for name in names if name.startswith("--")), names[0] if names else "")
    return long.lstrip("-").replace("-", "_")


def _given(option: Made, arguments: Sequence[str]) -> Value | None:
    """What a command line gave for an option, as far as that is a single word."""
    flags = [
        str(name.value) for name in option.args if isinstance(name, Const) and str(name.value)[:1] == "-"
    ]
    action = option.keywords.get("action")
    for at, word in enumerate(arguments):
        flag, equals, value = word.partition("=")
        if flag not in flags:
            continue
        if isinstance(action, Const) and action.value in ("store_true", "store_false"):
            return Const(option.spot, action.value == "store_true", soft=True)
        if not equals and at + 1 < len(arguments):
            value = arguments[at + 1]
        if value and "nargs" not in option.keywords and action is None:
            return Const(option.spot, _literal(value), soft=True)
    return None


def _literal(word: str) -> str | int | float:
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(word)
    return word


def _default(option: Made) -> Value:
    if "default" in option.keywords:
        default = option.keywords["default"]
        return Const(default.spot, default.value, soft=True) if isinstance(default, Const) else default
    action = option.keywords.get("action")
    if isinstance(action, Const) and action.value in ("store_true", "store_false"):
        return Const(option.spot, action.value == "store_false", soft=True)
    return Unknown(option.spot, _destination(option))


def _dict(call: Made) -> Value:
    first = call.args[0] if call.args else None
    items = dict(first.items) if isinstance(first, DictValue) else {}
    return DictValue(
        call.spot,
        items | dict(call.keywords),
        call.open or not isinstance(first, DictValue | None),
    )


def _namespace(call: Made) -> Value:
    return DictValue(call.spot, dict[object, Value](call.keywords.items()), call.open)


def _number(call: Made) -> Value:
    first = call.args[0] if call.args else None
    if isinstance(first, Const):
        try:
            return Const(first.spot, float(first.value) if call.name == "float" else first.value, first.soft)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return call
    return call


def _getattr(call: Made) -> Value:
    if len(call.args) >= 2 and isinstance(call.args[0], Named) and isinstance(call.args[1], Const):
        return Named(call.spot, f"{call.args[0].name}.{call.args[1].value!s}")
    if len(call.args) >= 2 and isinstance(call.args[0], Named) and call.args[0].name == "torch.optim":
        return Named(call.spot, "torch.optim.Optimizer")  # one of them: which one is known only in a run
    if len(call.args) >= 2 and isinstance(call.args[0], DictValue) and isinstance(call.args[1], Const):
        return call.args[0].items.get(call.args[1].value) or Unknown(call.spot)
    return call


def _next(call: Made) -> Value:
    return element(call.args[0], call.spot) if call.args and call.spot is not None else call


def _field(call: Made) -> Value:
    default = call.keywords.get("default")
    return default if default is not None else call


_CALLS: dict[str, Callable[[Made], Value]] = {
    "dict": _dict,
    "types.SimpleNamespace": _namespace,
    "argparse.Namespace": _namespace,
    "easydict.EasyDict": _dict,
    "ml_collections.ConfigDict": _dict,
    "omegaconf.OmegaConf.create": _dict,
    "float": _number,
    "int": _number,
    "getattr": _getattr,
    "next": _next,
    "dataclasses.field": _field,
}

Call = Callable[..., Value]


def run_layers(machine: Machine, library_call: Made, call: Call) -> Value:
    """Call a sequence of layers: each gets the output of the one before."""
    layer = library_call.receiver
    if (
        not (isinstance(layer, Made) and layer.kind == "call" and layer.name in _CHAINS)
        or library_call.spot is None
    ):
        return library_call
    layers = chain(machine, layer)
    if layers is None or len(library_call.args) != 1:
        return library_call
    value = library_call.args[0]
    for step in layers:
        value = call(machine, step, Arguments([value]), library_call.spot)
    return value


def chain(machine: Machine, layer: Made) -> list[Value] | None:
    """The layers of a Sequential in order, those that were added later too; None when not all are known."""
    layers: list[Value] = []
    for argument in layer.args:
        if isinstance(argument, Made) and argument.name == "collections.OrderedDict" and argument.args:
            argument = argument.args[0]
        if isinstance(argument, ListValue):
            layers += [_layer(part) for part in argument.items]
        elif isinstance(argument, DictValue):
            layers += list(argument.items.values())
        else:
            layers.append(argument)
    for event in machine.trace.methods("append", "add_module", "add"):
        if event.value.receiver is layer and event.value.args:
            layers.append(event.value.args[-1])
    return layers if not layer.open or layers else None


def _layer(value: Value) -> Value:
    """The layer of a pair of name and layer."""
    is_pair = isinstance(value, ListValue) and len(value.items) == 2 and isinstance(value.items[0], Const)
    return value.items[1] if is_pair and isinstance(value, ListValue) else value
