"""A loss that expects probabilities, or their logarithm, gets the raw output of a layer.

Seen when what reaches `nll_loss` comes straight from a layer (or from softmax, without the logarithm), when
what reaches `binary_cross_entropy` comes straight from a linear or convolutional layer, or `kl_div` gets
softmax instead of log_softmax. In Keras: a cross-entropy without `from_logits=True` after a Dense layer
without activation, or with ReLU or tanh.

Silent when any arithmetic stands in between: it may be the activation written out. Known mistake: none yet.
"""

import ast

from traindx.evidence.detectors._script import (
    Detector,
    Edit,
    Finding,
    Places,
    Script,
    Scripts,
    Skipped,
    Training,
)
from traindx.evidence.detectors._script.activations import keras_finding, operation_before
from traindx.evidence.detectors._script.keras_samples import fitted, taped
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.flow import activation_spot
from traindx.source.keras import Compiled, compiled
from traindx.source.roles import LossCall, operation
from traindx.source.values import Made, Spot

DETECTOR = Detector(title="activation missing before the loss", family="script_activation")
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


def detect(training: Training) -> Places:
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
    return [*findings.values(), *(_keras(one) for one in keras if _keras_raw(one))]


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
    node, other = setup.node, _INSTEAD.get(loss.setup.short)
    if other is None or operation(raw) not in _RAW or not isinstance(node, ast.Call):
        return ()
    if not isinstance(node.func, ast.Attribute):
        return ()
    front = segment(Spot(setup.source, node.func.value))
    return replaced(Spot(setup.source, node.func), f"{front}.{other}", "ask")


def _keras_raw(one: Compiled) -> bool:
    binary = one.loss == "binary_crossentropy"
    raw = one.activation in ("linear", "relu", "tanh")
    return one.from_logits is False and raw and (one.loss in _KERAS or binary)


def _keras(one: Compiled) -> Finding:
    has = "no activation" if one.activation == "linear" else f"the activation {one.activation}"
    return keras_finding(
        one,
        f"has {has}, and the loss {one.loss} of line {one.event.spot.line} takes its output for "
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
    from traindx.source.script import parse_script

    return parse_script(_TRAIN.format(out=out, loss=loss))


def fires() -> Scripts:
    from traindx.source.script import parse_script

    yield _script("out", "NLLLoss")
    yield _script("F.softmax(out, dim=1)", "NLLLoss")
    yield _script("out.squeeze(-1)", "BCELoss")
    yield _script("F.softmax(out, dim=1)", "KLDivLoss")
    yield parse_script(
        "from keras import Sequential, layers\nmodel = Sequential()\nmodel.add(layers.Dense(10))\n"
        "model.compile(optimizer='adam', loss='sparse_categorical_crossentropy')"
    )

    yield fitted('layers.Dense(1, activation="relu")', loss="binary_crossentropy")
    yield taped(loss="keras.losses.SparseCategoricalCrossentropy()(b, model(a))")


def silent() -> Scripts:
    from traindx.source.script import parse_script

    yield fitted()
    yield taped()
    yield _script("F.log_softmax(out, dim=1)", "NLLLoss")
    yield _script("torch.log(F.softmax(out, dim=1))", "NLLLoss")
    yield _script("out - out.logsumexp(1, keepdim=True)", "NLLLoss")
    yield _script("torch.sigmoid(out)", "BCELoss")
    yield _script("out", "BCEWithLogitsLoss")
    yield _script("out.clamp(0, 1)", "BCELoss")
    yield parse_script(
        "import tensorflow as tf\n"
        "model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation='sigmoid')])\n"
        "model.compile('adam', loss='binary_crossentropy')"
    )
