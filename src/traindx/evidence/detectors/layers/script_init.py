"""Layers as the script makes them."""

import ast
from collections.abc import Iterator

from traindx.evidence.detector import Cases, Detector
from traindx.evidence.detectors._script import Edit, Finding, Places, Skipped, Training, script
from traindx.evidence.detectors._script.keras_samples import fitted
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.execution import Binding, CallEvent
from traindx.source.flow import parts
from traindx.source.keras import SEQUENTIAL, layers_of
from traindx.source.library import is_module_class
from traindx.source.parameters import frozen
from traindx.source.roles import is_module
from traindx.source.values import Const, DictValue, Instance, ListValue, Made, Spot, Value, number, options

_CALLS = {"torch.nn.init.constant_": None, "torch.nn.init.ones_": 1.0, "torch.nn.init.zeros_": 0.0}
_METHODS = {"fill_": None, "zero_": 0.0}
_KERAS = {"zeros": 0.0, "ones": 1.0, "zero": 0.0, "one": 1.0}
_LAYERS = ("torch.nn.Linear", "torch.nn.Conv1d", "torch.nn.Conv2d", "torch.nn.Conv3d")
_HIDDEN = 'layers.Dense(32, "relu", kernel_initializer={}), layers.Dense(3, activation="softmax")'


@Detector("constant initial weights", family="script_init", measured_by="init_constant")
def script_init_constant(training: Training) -> Places:
    """All weights of layers start with one and the same number: their units stay alike for ever.

    Seen when `nn.init.constant_`, `ones_` or `fill_` sets the weights of a linear or convolutional layer to
    a number, and when `zeros_` does so for every layer of a kind: units that start alike get alike
    gradients. In Keras: `kernel_initializer="zeros"`, `"ones"` or a constant in a hidden layer of a
    Sequential.

    Silent for biases and norms, for a single layer that starts at zero (a head, a gate), and for layers with
    one output. Known mistake: a layer that is made to average on purpose and frozen.
    """
    chains = [list(layers_of(training.trace, e.value)) for e in training.trace.named(*SEQUENTIAL)]
    if not training.backwards and not chains:
        return NO_LOOP
    still = frozen(training)
    findings = {id(spot.node): _finding(spot, value) for layers in chains for spot, value in _keras(layers)}
    for event in training.trace.events:
        start = _start(event)
        if start is None:
            continue
        layer, value = start
        if id(layer) not in still and (_one_layer(layer, value) or _every_layer(event)):
            findings.setdefault(id(event.spot.node), _finding(event.spot, value))
    return [*findings.values()]


def _finding(spot: Spot, value: float) -> Finding:
    text = (
        f"{where(spot)}: {code(spot)} starts all weights of a layer at {value:g}: its units get the same "
        "gradients and never become different."
    )
    return Finding(text, "silent_defect", "high", places=(place(spot),))


def _keras(layers: list[Made]) -> Iterator[tuple[Spot, float]]:
    """Hidden layers of a chain whose `kernel_initializer` is one number."""
    weighted = [layer for layer in layers if layer.short == "Dense" or layer.short.startswith("Conv")]
    for layer in weighted[:-1]:
        start = layer.keywords.get("kernel_initializer")
        name = str(start.value) if isinstance(start, Const) else getattr(start, "name", "").rpartition(".")[2]
        value = _KERAS.get(name.lower())
        if name == "Constant" and isinstance(start, Made):
            value = number(start.argument(0, "value"))
        several = number(layer.argument(0, "units", "filters")) != 1
        if value is not None and several and layer.spot is not None:
            yield layer.spot, value


def _start(event: CallEvent) -> tuple[Value, float] | None:
    """The layer whose weights are set, and the number."""
    call = event.value
    if call.kind == "call" and call.name in _CALLS and call.args:
        tensor, fixed, argument = call.args[0], _CALLS[call.name], call.argument(1, "val")
    elif call.kind == "method" and call.name in _METHODS and call.receiver is not None:
        tensor, fixed, argument = call.receiver, _METHODS[call.name], call.argument(0, "value")
    else:
        return None
    value = fixed if fixed is not None else number(argument)
    while (
        isinstance(tensor, Made) and tensor.kind == "attribute" and tensor.name == "data" and tensor.receiver
    ):
        tensor = tensor.receiver
    if value is None or not isinstance(tensor, Made) or tensor.kind != "attribute" or tensor.name != "weight":
        return None
    return (tensor.receiver, value) if tensor.receiver is not None else None


def _one_layer(layer: Value, value: float) -> bool:
    """A layer by its name, with several outputs, at another number than zero."""
    if not isinstance(layer, Made) or layer.kind != "call" or layer.name not in _LAYERS or value == 0:
        return False
    return number(layer.argument(1, "out_features", "out_channels")) != 1


def _every_layer(event: CallEvent) -> bool:
    """Whether the call is made for all layers of a kind: under `isinstance(m, nn.Linear)`."""
    node: ast.AST | None = event.spot.node
    while node is not None and not isinstance(node, ast.FunctionDef | ast.For):
        above = event.spot.source.parents.get(node)
        if isinstance(above, ast.If) and node in above.body:
            test = ast.unparse(above.test)
            if "isinstance" in test:
                return ("Linear" in test or "Conv" in test) and "Norm" not in test and " and " not in test
        node = above
    return False


_APPLIED = "def begin(m):\n    if isinstance(m, nn.{}): {}\nmodel.apply(begin)"


@Detector("layers in a plain list", family="script_left_out", measured_by="parameters_not_held")
def script_layers_in_list(training: Training) -> Places:
    """Layers stand in a plain list, tuple or dict of a module, where PyTorch does not see them.

    Seen when a module of the script keeps layers or other modules under an attribute as a Python list, tuple
    or dict instead of `nn.ModuleList` or `nn.ModuleDict`: `parameters()` leaves them out, so they are not
    trained, not moved to the device and not saved.

    Silent when the same layers are registered another way too (`nn.Sequential(*self.layers)`, `add_module`),
    or their parameters are given to an optimizer by themselves. Known mistake: none yet.
    """
    modules = [instance for instance in training.trace.instances if is_module_class(instance.cls)]
    if not modules:
        return Skipped("a model of the script's own")
    findings: dict[int, Finding] = {}
    for binding in training.trace.bindings:
        owner = binding.owner
        if not isinstance(owner, Instance) or not is_module_class(owner.cls):
            continue
        if _holds_layers(binding.value) and not _registered(training, owner, binding.value):
            findings.setdefault(id(binding.spot.node), _layers_in_list_finding(binding))
    return [*findings.values()]


def _layers(value: Value) -> list[Value]:
    """The modules in a plain container."""
    inner = (
        value.items
        if isinstance(value, ListValue)
        else [*value.items.values()]
        if isinstance(value, DictValue)
        else []
    )
    flat = [layer for part in inner for layer in (part.items if isinstance(part, ListValue) else [part])]
    return [layer for part in flat for layer in options(part) if is_module(layer)]


def _holds_layers(value: Value) -> bool:
    return any(not (isinstance(layer, Made) and layer.short.endswith("Loss")) for layer in _layers(value))


def _registered(training: Training, owner: Instance, value: Value) -> bool:
    """Whether PyTorch learns of the layers in another way."""
    layers = {id(layer) for layer in _layers(value)}
    modules = [instance for instance in training.trace.instances if is_module_class(instance.cls)]
    values = [v for module in modules for v in module.attributes.values()]
    elsewhere = [v for v in values if v is not value and v is not owner and not _holds_layers(v)]
    registered = {id(part) for v in elsewhere for part in [v, *parts(v)]}
    if layers & registered:
        return True
    registrations = training.trace.methods("add_module", "register_module", "super.__setattr__")
    if any(event.value.receiver is owner for event in registrations) or training.trace.named("setattr"):
        return True
    separate = {id(m) for step in training.steps for o in step.optimizers for m in _sources(o)}
    return bool(layers & separate) or _walked(training, value)


def _sources(optimizer: Value) -> list[Value]:
    from traindx.source.optimizer_sources import sources

    return sources(optimizer)


def _walked(training: Training, value: Value) -> bool:
    """Whether the script asks the layers of the list for their parameters one by one."""
    layers = {id(layer) for layer in _layers(value)}
    calls = training.trace.methods("parameters", "named_parameters")
    return any(id(receiver) in layers for event in calls for receiver in options(event.value.receiver))


def _layers_in_list_finding(binding: Binding) -> Finding:
    spot = binding.spot
    kind = "dict" if isinstance(binding.value, DictValue) else "list"
    wrapper = "ModuleDict" if kind == "dict" else "ModuleList"
    text = (
        f"{where(spot)}: `self.{binding.name}` keeps layers in a plain {kind}: parameters() does not see "
        f"them, so no optimizer trains them. nn.{wrapper} does."
    )
    written = spot.node.value if isinstance(spot.node, ast.Assign | ast.AnnAssign) else None
    edits: tuple[Edit, ...] = ()
    if written is not None:
        inner = Spot(spot.source, written)
        one_line = written.lineno == written.end_lineno
        new = f"{_nn(spot)}.{wrapper}({segment(inner)})"
        filled = isinstance(written, ast.ListComp | ast.List | ast.Dict | ast.DictComp)
        edits = replaced(inner, new, "safe") if one_line and filled and _nn(spot) else ()
    return Finding(text, "silent_defect", "high", places=(place(spot),), edits=edits)


def _nn(spot: Spot) -> str:
    """How the file calls torch.nn."""
    text = spot.source.text
    if "import torch.nn as nn" in text or "from torch import nn" in text:
        return "nn"
    return "torch.nn" if "import torch" in text else ""


def cases() -> Cases:
    yield from script_init_constant.fires(
        script(setup=_APPLIED.format("Linear", "nn.init.constant_(m.weight, 0.1)")),
        script(setup=_APPLIED.format("Linear", "m.weight.data.fill_(0.01)")),
        script(setup=_APPLIED.format("Linear", "nn.init.zeros_(m.weight)")),
        script(init="nn.init.ones_(self.first.weight)"),
        fitted(_HIDDEN.format('"zeros"')),
        fitted(_HIDDEN.format("keras.initializers.Constant(0.1)")),
    )
    yield from script_init_constant.silent(
        script(setup=_APPLIED.format("Linear", "nn.init.zeros_(m.bias)")),
        script(setup=_APPLIED.format("BatchNorm1d", "nn.init.constant_(m.weight, 1.0)")),
        script(init="nn.init.zeros_(self.second.weight)"),
        fitted(_HIDDEN.format('"he_normal", bias_initializer="zeros"')),
        fitted('layers.Dense(32, activation="relu"), layers.Dense(3, kernel_initializer="zeros")'),
        script(setup=_APPLIED.format("Linear", "nn.init.xavier_uniform_(m.weight)")),
        script(),
    )
    yield from script_layers_in_list.fires(
        script(init="self.more = [nn.Linear(16, 16) for _ in range(3)]"),
        script(init="self.heads = {'a': nn.Linear(16, 2), 'b': nn.Linear(16, 3)}"),
        script(init="self.more = []\nfor _ in range(2): self.more.append(nn.Linear(16, 16))"),
    )
    yield from script_layers_in_list.silent(
        script(),
        script(init="self.more = nn.ModuleList([nn.Linear(16, 16) for _ in range(3)])"),
        script(init="layers = [nn.Linear(16, 16)]\nself.layers = layers\nself.net = nn.Sequential(*layers)"),
        script(init="self.sizes = [16, 16]\nself.names = {'a': 1}"),
        script(init="self.losses = [nn.MSELoss(), nn.L1Loss()]"),
    )
