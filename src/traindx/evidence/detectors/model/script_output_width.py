"""The last layer has one output where the loss needs one per class.

Seen when `cross_entropy` gets the output of a linear layer with a single unit: softmax over one value is
1, the loss is 0 whatever happens. In Keras: softmax on a Dense layer with one unit, or a categorical
cross-entropy after one; and labels in the form of the other cross-entropy: `to_categorical` with the sparse
one, class numbers with the categorical one.

Silent when the width is not a plain number, and when it is not known how labels were made.
Known mistake: none yet.
"""

from collections.abc import Iterator

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.flow import parametric
from traindx.source.keras import Compiled, compiled
from traindx.source.roles import unshaped
from traindx.source.values import Made, Spot, Value, number, options

DETECTOR = Detector(title="one output for several classes", family="script_output")
_SPARSE, _ONE_HOT = "sparse_categorical_crossentropy", "categorical_crossentropy"


def detect(training: Training) -> Places:
    keras = compiled(training.trace)
    losses = [x for x in training.losses if x.kind in ("cross_entropy", "nll_loss")]
    if not losses and not keras:
        return Skipped("a loss over classes")
    findings: dict[int, Finding] = {}
    for loss in losses:
        layers = [parametric(unshaped(way)) for way in options(unshaped(loss.given))]
        # Of several models that a branch chooses from, the loss may belong to another.
        for layer in layers if all(map(_single, layers)) else ():
            if layer is not None and layer.spot is not None:
                findings.setdefault(id(layer.spot.node), _finding(layer.spot, loss.event.spot, loss.kind))
    for one in keras:
        alone = one.units == 1 and (one.activation == "softmax" or "categorical" in one.loss)
        if alone and one.last is not None and one.last.spot is not None:
            findings.setdefault(
                id(one.last.spot.node), _finding(one.last.spot, one.event.spot, one.loss or "the loss")
            )
    return [*findings.values(), *(found for one in keras for found in _labels(one))]


def _labels(model: Compiled) -> Iterator[Finding]:
    """Labels of a `fit` in a form that its loss does not take."""
    if model.loss not in (_SPARSE, _ONE_HOT):
        return
    for fit in model.fits:
        forms = {_form(one) for one in options(fit.value.argument(1, "y"))}
        other = _ONE_HOT if model.loss == _SPARSE else _SPARSE
        if forms == {other}:
            form = "one-hot vectors" if other == _ONE_HOT else "class numbers"
            text = (
                f"{where(fit.spot)}: the labels of line {fit.spot.line} are {form}, and {model.loss} (line "
                f"{model.event.spot.line}) takes the other form: use {other}."
            )
            yield Finding(text, "silent_defect", "high", places=(place(fit.spot), place(model.event.spot)))


def _form(labels: Value | None) -> str:
    """The loss that takes labels made like this; empty where that is not known."""
    while isinstance(labels, Made) and labels.kind == "item" and labels.args:
        labels = labels.args[0]
    if not isinstance(labels, Made):
        return ""
    if labels.short == "to_categorical":
        return _ONE_HOT
    return _SPARSE if labels.short in ("argmax", "randint", "integers", "digitize") else ""


def _single(layer: Value | None) -> bool:
    """Whether a layer gives one value."""
    if not isinstance(layer, Made) or layer.short != "Linear":
        return False
    return number(layer.argument(1, "out_features")) == 1


def _finding(layer: Spot, loss: Spot, kind: str) -> Finding:
    text = (
        f"{where(layer)}: {code(layer)} gives 1 value, and {kind} (line {loss.line}) needs one per class: "
        "softmax over a single value is always 1."
    )
    return Finding(text, "silent_defect", "high", places=(place(layer), place(loss)))


_KERAS = """
from keras import Sequential
from keras.layers import Dense
m = Sequential([Dense(1, activation='{}')])
m.compile('adam', 'binary_crossentropy')
"""


_FORMS = """
import keras
y = {}
m = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
m.compile("adam", "{}")
m.fit(x, y)
"""


def fires() -> Scripts:
    from traindx.source.script import parse_script

    yield script(setup="model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1))")
    yield parse_script(_KERAS.format("softmax"))
    yield parse_script(_KERAS.format("softmax").replace("Dense(1", "Conv2D(1, 1").replace("Dense", "Conv2D"))
    yield parse_script(_FORMS.format("keras.utils.to_categorical(labels)", f"sparse_{_ONE_HOT}"))
    yield parse_script(_FORMS.format("scores.argmax(axis=1)", _ONE_HOT))


def silent() -> Scripts:
    from traindx.source.script import parse_script

    yield script()
    yield script(setup="classes = 1 if small else 4\nmodel = nn.Sequential(nn.Linear(8, classes))")
    yield script(setup="if small:\n    model = nn.Linear(8, 1)\nelse:\n    model = nn.Linear(8, 4)")
    yield parse_script(_KERAS.format("sigmoid"))
    yield parse_script(_FORMS.format("keras.utils.to_categorical(labels)", _ONE_HOT))
    yield parse_script(_FORMS.format("scores.argmax(axis=1)", _SPARSE))
    yield parse_script(_FORMS.format("load()", _ONE_HOT))
