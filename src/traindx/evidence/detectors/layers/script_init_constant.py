"""All weights of layers start with one and the same number: their units stay alike for ever.

Seen when `nn.init.constant_`, `ones_` or `fill_` sets the weights of a linear or convolutional layer to a
number, and when `zeros_` does so for every layer of a kind: units that start alike get alike gradients. In
Keras: `kernel_initializer="zeros"`, `"ones"` or a constant in a hidden layer of a Sequential.

Silent for biases and norms, for a single layer that starts at zero (a head, a gate), and for layers with one
output. Known mistake: a layer that is made to average on purpose and frozen.
"""

import ast
from collections.abc import Iterator

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Training, script
from traindx.evidence.detectors._script.keras_samples import fitted
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.keras import SEQUENTIAL, layers_of
from traindx.source.parameters import frozen
from traindx.source.values import Const, Made, Spot, Value, number

DETECTOR = Detector(title="constant initial weights", family="script_init")
_CALLS = {"torch.nn.init.constant_": None, "torch.nn.init.ones_": 1.0, "torch.nn.init.zeros_": 0.0}
_METHODS = {"fill_": None, "zero_": 0.0}
_KERAS = {"zeros": 0.0, "ones": 1.0, "zero": 0.0, "one": 1.0}
_LAYERS = ("torch.nn.Linear", "torch.nn.Conv1d", "torch.nn.Conv2d", "torch.nn.Conv3d")


def detect(training: Training) -> Places:
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
    weighted = [one for one in layers if one.short == "Dense" or one.short.startswith("Conv")]
    for layer in weighted[:-1]:
        given = layer.keywords.get("kernel_initializer")
        name = str(given.value) if isinstance(given, Const) else getattr(given, "name", "").rpartition(".")[2]
        value = _KERAS.get(name.lower())
        if name == "Constant" and isinstance(given, Made):
            value = number(given.argument(0, "value"))
        several = number(layer.argument(0, "units", "filters")) != 1
        if value is not None and several and layer.spot is not None:
            yield layer.spot, value


def _start(event: CallEvent) -> tuple[Value, float] | None:
    """The layer whose weights are set, and the number."""
    call = event.value
    if call.kind == "call" and call.name in _CALLS and call.args:
        tensor, fixed, given = call.args[0], _CALLS[call.name], call.argument(1, "val")
    elif call.kind == "method" and call.name in _METHODS and call.receiver is not None:
        tensor, fixed, given = call.receiver, _METHODS[call.name], call.argument(0, "value")
    else:
        return None
    value = fixed if fixed is not None else number(given)
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


_HIDDEN = 'layers.Dense(32, "relu", kernel_initializer={}), layers.Dense(3, activation="softmax")'
_APPLIED = "def begin(m):\n    if isinstance(m, nn.{}): {}\nmodel.apply(begin)"


def fires() -> Scripts:
    yield script(setup=_APPLIED.format("Linear", "nn.init.constant_(m.weight, 0.1)"))
    yield script(setup=_APPLIED.format("Linear", "m.weight.data.fill_(0.01)"))
    yield script(setup=_APPLIED.format("Linear", "nn.init.zeros_(m.weight)"))
    yield script(init="nn.init.ones_(self.first.weight)")
    yield fitted(_HIDDEN.format('"zeros"'))
    yield fitted(_HIDDEN.format("keras.initializers.Constant(0.1)"))


def silent() -> Scripts:
    yield script(setup=_APPLIED.format("Linear", "nn.init.zeros_(m.bias)"))
    yield script(setup=_APPLIED.format("BatchNorm1d", "nn.init.constant_(m.weight, 1.0)"))
    yield script(init="nn.init.zeros_(self.second.weight)")
    yield fitted(_HIDDEN.format('"he_normal", bias_initializer="zeros"'))
    yield fitted('layers.Dense(32, activation="relu"), layers.Dense(3, kernel_initializer="zeros")')
    yield script(setup=_APPLIED.format("Linear", "nn.init.xavier_uniform_(m.weight)"))
    yield script()
