"""Activations in the script, before the loss."""

import ast

from traindx.evidence.detector import Cases, Detector
from traindx.evidence.detectors._script import Edit, Finding, Places, Script, Skipped, Training
from traindx.evidence.detectors._script.activations import keras_finding, operation_before
from traindx.evidence.detectors._script.keras_samples import fitted, taped
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.flow import activation_spot
from traindx.source.keras import Compiled, compiled
from traindx.source.roles import LossCall, operation
from traindx.source.script import parse_script
from traindx.source.values import Made, Spot

_RAW = {"Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d", "LazyLinear", "Bilinear"}
_RAW_BEFORE = {
    "nll_loss": (_RAW | {"softmax", "relu", "sigmoid", "linear"}, "log-probabilities"),
    "binary_cross_entropy": (_RAW | {"relu", "log_softmax", "linear", "gelu", "tanh"}, "probabilities"),
    "kl_div": ({"softmax"}, "log-probabilities"),
    "nll_of_probabilities": ({"Linear", "relu", "tanh", "log_softmax"}, "probabilities"),
}
_INSTEAD = {
    "NLLLoss": "CrossEntropyLoss",
    "nll_loss": "cross_entropy",
    "BCELoss": "BCEWithLogitsLoss",
    "binary_cross_entropy": "binary_cross_entropy_with_logits",
}
_KERAS = {"sparse_categorical_crossentropy": "softmax", "categorical_crossentropy": "softmax"}
_APPLIED = {
    "cross_entropy": ("softmax", {"softmax", "sigmoid"}),
    "binary_cross_entropy_with_logits": ("sigmoid", {"softmax", "sigmoid"}),
}


@Detector(
    "activation missing before the loss", family="script_activation", measured_by="logits_as_probabilities"
)
def script_activation_missing(training: Training) -> Places:
    """A loss that expects probabilities, or their logarithm, gets the raw output of a layer.

    Seen when what reaches `nll_loss` comes straight from a layer (or from softmax, without the logarithm),
    when what reaches `binary_cross_entropy` comes straight from a linear or convolutional layer, or `kl_div`
    gets softmax instead of log_softmax. In Keras: a cross-entropy without `from_logits=True` after a Dense
    layer without activation, or with ReLU or tanh.

    Silent when any arithmetic stands in between: it may be the activation written out. Known mistake: none
    yet.
    """
    keras = compiled(training.trace)
    losses = [x for x in (*training.losses, *training.losses_elsewhere) if x.kind in _RAW_BEFORE]
    if not losses and not keras:
        return Skipped("a loss that takes probabilities")
    findings: dict[int, Finding] = {}
    for loss in losses:
        raw = operation_before(loss, _RAW_BEFORE[loss.kind][0])
        if raw is not None:
            spot = loss.setup.spot or loss.event.spot
            findings.setdefault(id(spot.node), _finding(loss, raw))
    return [*findings.values(), *(_keras(model) for model in keras if _keras_raw(model))]


def _finding(loss: LossCall, raw: Made) -> Finding:
    setup = loss.setup.spot or loss.event.spot
    output = activation_spot(raw) or loss.event.spot
    text = (
        f"{where(setup)}: {loss.kind} expects {_RAW_BEFORE[loss.kind][1]}, and gets what {code(output)} "
        f"(line {output.line}) gives."
    )
    places = (place(setup), place(loss.event.spot), place(output))
    return Finding(text, "silent_defect", "high", places=places, edits=_edit(loss, raw, setup))


def _edit(loss: LossCall, raw: Made, setup: Spot) -> tuple[Edit, ...]:
    """The loss that applies the activation itself, when the layer's raw output reaches it."""
    node, replacement = setup.node, _INSTEAD.get(loss.setup.short)
    if replacement is None or operation(raw) not in _RAW or not isinstance(node, ast.Call):
        return ()
    if not isinstance(node.func, ast.Attribute):
        return ()
    front = segment(Spot(setup.source, node.func.value))
    return replaced(Spot(setup.source, node.func), f"{front}.{replacement}", "ask")


def _keras_raw(model: Compiled) -> bool:
    binary = model.loss == "binary_crossentropy"
    raw = model.activation in ("linear", "relu", "tanh")
    return model.from_logits is False and raw and (model.loss in _KERAS or binary)


def _keras(model: Compiled) -> Finding:
    activation = "no activation" if model.activation == "linear" else f"the activation {model.activation}"
    return keras_finding(
        model,
        f"has {activation}, and the loss {model.loss} of line {model.event.spot.line} takes its output for "
        "probabilities (`from_logits` is not set).",
    )


_TRAIN = """
import torch, torch.nn as nn, torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)
    def forward(self, x):
        out = self.fc(x)
        return {out}
model = Net()
criterion = nn.{loss}()
for x, y in loader:
    loss = criterion(model(x), y)
"""


def _script(out: str, loss: str) -> Script:
    return parse_script(_TRAIN.format(out=out, loss=loss))


@Detector("activation applied twice", family="script_activation", measured_by="probabilities_as_logits")
def script_double_activation(training: Training) -> Places:
    """Softmax or sigmoid is applied before a loss that applies it itself.

    Seen when what reaches `cross_entropy` was made by softmax or sigmoid, or what reaches
    `binary_cross_entropy_with_logits` by sigmoid or softmax, with nothing but reshaping in between, on every
    way through the model. In Keras: `from_logits=True` with an activation on the last layer.

    Silent after log_softmax (applied twice it changes nothing) and when the model gives logits on some way.
    Known mistake: none yet.
    """
    keras = compiled(training.trace)
    losses = [x for x in (*training.losses, *training.losses_elsewhere) if x.kind in _APPLIED]
    if not losses and not keras:
        return Skipped("a loss that takes logits")
    findings: dict[int, Finding] = {}
    for loss in losses:
        twice = operation_before(loss, _APPLIED[loss.kind][1])
        if twice is not None and twice.spot is not None:
            spot = activation_spot(twice) or twice.spot
            findings.setdefault(id(spot.node), _double_activation_finding(loss, twice))
    applied = [model for model in keras if model.from_logits and model.activation in ("softmax", "sigmoid")]
    return [*findings.values(), *(_keras_script_double_activation(model) for model in applied)]


def _double_activation_finding(loss: LossCall, twice: Made) -> Finding:
    spot, call = activation_spot(twice) or loss.event.spot, loss.event.spot
    inner = _APPLIED[loss.kind][0]
    text = (
        f"{where(spot)}: {code(spot)} is applied before {code(call)} in line {call.line}, and that loss "
        f"applies {inner} itself: probabilities are taken for logits."
    )
    return Finding(
        text,
        "silent_defect",
        "high",
        places=(place(spot), place(call)),
        edits=_edit_script_double_activation(twice, spot),
    )


def _edit_script_double_activation(twice: Made, spot: Spot) -> tuple[Edit, ...]:
    """The activation left out: its input alone, or a layer that does nothing."""
    node = spot.node
    if isinstance(twice.receiver, Made) and twice.receiver.name.startswith("keras."):
        return ()
    if twice.kind == "apply" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        front = segment(Spot(spot.source, node.func.value))
        return replaced(spot, f"{front}.Identity()", "ask")
    if twice.kind == "call" and isinstance(node, ast.Call) and node.args:
        return replaced(spot, segment(Spot(spot.source, node.args[0])), "ask")
    if twice.kind == "method" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return replaced(spot, segment(Spot(spot.source, node.func.value)), "ask")
    return ()


def _keras_script_double_activation(model: Compiled) -> Finding:
    return keras_finding(
        model,
        f"ends the model with {model.activation}, and the loss of line {model.event.spot.line} gets "
        f"`from_logits=True`: it applies {model.activation} once more.",
    )


_TRAIN_script_double_activation = """
import torch, torch.nn as nn, torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)
        self.act = nn.{layer}
    def forward(self, x):
        out = self.fc(x)
        return {out}
model = Net()
for x, y in loader:
    loss = {loss}
"""


def _activated(
    out: str, loss: str = "nn.CrossEntropyLoss()(model(x), y)", layer: str = "Identity()"
) -> Script:
    return parse_script(_TRAIN_script_double_activation.format(out=out, loss=loss, layer=layer))


def cases() -> Cases:
    yield from script_activation_missing.fires(
        _script("out", "NLLLoss"),
        _script("F.softmax(out, dim=1)", "NLLLoss"),
        _script("out.squeeze(-1)", "BCELoss"),
        _script("F.softmax(out, dim=1)", "KLDivLoss"),
        parse_script(
            "from keras import Sequential, layers\nmodel = Sequential()\nmodel.add(layers.Dense(10))\n"
            "model.compile(optimizer='adam', loss='sparse_categorical_crossentropy')"
        ),
    )

    yield from script_activation_missing.fires(
        fitted('layers.Dense(1, activation="relu")', loss="binary_crossentropy"),
        taped(loss="keras.losses.SparseCategoricalCrossentropy()(b, model(a))"),
    )
    yield from script_activation_missing.silent(
        fitted(),
        taped(),
        _script("F.log_softmax(out, dim=1)", "NLLLoss"),
        _script("torch.log(F.softmax(out, dim=1))", "NLLLoss"),
        _script("out - out.logsumexp(1, keepdim=True)", "NLLLoss"),
        _script("torch.sigmoid(out)", "BCELoss"),
        _script("out", "BCEWithLogitsLoss"),
        _script("out.clamp(0, 1)", "BCELoss"),
        parse_script(
            "import tensorflow as tf\n"
            "model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation='sigmoid')])\n"
            "model.compile('adam', loss='binary_crossentropy')"
        ),
    )
    yield from script_double_activation.fires(
        _activated("F.softmax(out, dim=1)"),
        _activated("self.act(out).view(-1, 3)", layer="Softmax(dim=-1)"),
        _activated("torch.sigmoid(out)", "F.binary_cross_entropy_with_logits(model(x).squeeze(1), y)"),
        _activated("out", "F.cross_entropy(model(x).softmax(-1), y)"),
    )
    head = "import torch.nn as nn\nnet = nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=1))\n"
    yield from script_double_activation.fires(
        parse_script(head + "for x, y in d:\n    nn.CrossEntropyLoss()(net(x), y)"),
        parse_script(
            "from tensorflow import keras\n"
            "model = keras.Sequential([keras.layers.Dense(10, activation='softmax')])\n"
            "model.compile('adam', loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))"
        ),
    )

    yield from script_double_activation.fires(
        taped(layers='layers.Dense(3, activation="softmax")'),
        taped(
            'layers.Dense(3, activation="sigmoid")',
            "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=b, logits=model(a)))",
        ),
    )
    yield from script_double_activation.silent(
        taped(),
        taped('layers.Dense(3, activation="softmax")', "keras.losses.CategoricalCrossentropy()(b, model(a))"),
        _activated("out"),
        _activated("F.log_softmax(out, dim=1)"),
        _activated("F.softmax(out, dim=1) if not self.training else out"),
        _activated("F.softmax(out, dim=1)", "F.mse_loss(model(x), y)"),
        _activated("out", "F.cross_entropy(model(x), F.softmax(teacher(x), dim=1))"),
        _activated("self.fc(F.softmax(out, dim=1))"),
        parse_script(
            "from tensorflow import keras\n"
            "model = keras.Sequential([keras.layers.Dense(10, activation='softmax')])\n"
            "model.compile('adam', loss='sparse_categorical_crossentropy')"
        ),
    )
