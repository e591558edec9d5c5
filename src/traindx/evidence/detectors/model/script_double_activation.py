"""Softmax or sigmoid is applied before a loss that applies it itself.

Seen when what reaches `cross_entropy` was made by softmax or sigmoid, or what reaches
`binary_cross_entropy_with_logits` by sigmoid or softmax, with nothing but reshaping in between, on every way
through the model. In Keras: `from_logits=True` with an activation on the last layer.

Silent after log_softmax (applied twice it changes nothing) and when the model gives logits on some way.
Known mistake: none yet.
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
from traindx.evidence.detectors._script.keras_samples import taped
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.flow import activation_spot
from traindx.source.keras import Compiled, compiled
from traindx.source.roles import LossCall
from traindx.source.values import Made, Spot

DETECTOR = Detector(title="activation applied twice", family="script_activation")
_APPLIED = {
    "cross_entropy": ("softmax", {"softmax", "sigmoid"}),
    "binary_cross_entropy_with_logits": ("sigmoid", {"softmax", "sigmoid"}),
}


def detect(training: Training) -> Places:
    keras = compiled(training.trace)
    losses = [x for x in (*training.losses, *training.losses_elsewhere) if x.kind in _APPLIED]
    if not losses and not keras:
        return Skipped("a loss that takes logits")
    findings: dict[int, Finding] = {}
    for loss in losses:
        twice = operation_before(loss, _APPLIED[loss.kind][1])
        if twice is not None and twice.spot is not None:
            spot = activation_spot(twice) or twice.spot
            findings.setdefault(id(spot.node), _finding(loss, twice))
    applied = [one for one in keras if one.from_logits and one.activation in ("softmax", "sigmoid")]
    return [*findings.values(), *(_keras(one) for one in applied)]


def _finding(loss: LossCall, twice: Made) -> Finding:
    spot, called = activation_spot(twice) or loss.event.spot, loss.event.spot
    inner = _APPLIED[loss.kind][0]
    text = (
        f"{where(spot)}: {code(spot)} is applied before {code(called)} in line {called.line}, and that loss "
        f"applies {inner} itself: probabilities are taken for logits."
    )
    return Finding(
        text, "silent_defect", "high", places=(place(spot), place(called)), edits=_edit(twice, spot)
    )


def _edit(twice: Made, spot: Spot) -> tuple[Edit, ...]:
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


def _keras(one: Compiled) -> Finding:
    return keras_finding(
        one,
        f"ends the model with {one.activation}, and the loss of line {one.event.spot.line} gets "
        f"`from_logits=True`: it applies {one.activation} once more.",
    )


_TRAIN = """
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


def _script(out: str, loss: str = "nn.CrossEntropyLoss()(model(x), y)", layer: str = "Identity()") -> Script:
    from traindx.source.script import parse_script

    return parse_script(_TRAIN.format(out=out, loss=loss, layer=layer))


def fires() -> Scripts:
    from traindx.source.script import parse_script

    yield _script("F.softmax(out, dim=1)")
    yield _script("self.act(out).view(-1, 3)", layer="Softmax(dim=-1)")
    yield _script("torch.sigmoid(out)", "F.binary_cross_entropy_with_logits(model(x).squeeze(1), y)")
    yield _script("out", "F.cross_entropy(model(x).softmax(-1), y)")
    head = "import torch.nn as nn\nnet = nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=1))\n"
    yield parse_script(head + "for x, y in d:\n    nn.CrossEntropyLoss()(net(x), y)")
    yield parse_script(
        "from tensorflow import keras\n"
        "model = keras.Sequential([keras.layers.Dense(10, activation='softmax')])\n"
        "model.compile('adam', loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))"
    )

    yield taped(layers='layers.Dense(3, activation="softmax")')
    yield taped(
        'layers.Dense(3, activation="sigmoid")',
        "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=b, logits=model(a)))",
    )


def silent() -> Scripts:
    from traindx.source.script import parse_script

    yield taped()
    yield taped(
        'layers.Dense(3, activation="softmax")', "keras.losses.CategoricalCrossentropy()(b, model(a))"
    )
    yield _script("out")
    yield _script("F.log_softmax(out, dim=1)")
    yield _script("F.softmax(out, dim=1) if not self.training else out")
    yield _script("F.softmax(out, dim=1)", "F.mse_loss(model(x), y)")
    yield _script("out", "F.cross_entropy(model(x), F.softmax(teacher(x), dim=1))")
    yield _script("self.fc(F.softmax(out, dim=1))")
    yield parse_script(
        "from tensorflow import keras\n"
        "model = keras.Sequential([keras.layers.Dense(10, activation='softmax')])\n"
        "model.compile('adam', loss='sparse_categorical_crossentropy')"
    )
