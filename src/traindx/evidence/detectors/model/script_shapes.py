"""Shapes in the script."""

import ast
from collections.abc import Iterator

from traindx.evidence.detector import Cases, Detector
from traindx.evidence.detectors._script import Case, Edit, Finding, Places, Script, Skipped, Training, script
from traindx.evidence.detectors._script.columns import Form, form
from traindx.evidence.detectors._script.keras_samples import taped
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, where
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.flow import parametric, reach
from traindx.source.keras import Compiled, compiled, is_layer
from traindx.source.roles import unshaped
from traindx.source.script import parse_script
from traindx.source.values import Made, Spot, Value, number, options, parents, upstream

_SPARSE, _ONE_HOT = "sparse_categorical_crossentropy", "categorical_crossentropy"
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
_LOSSES = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss poisson_nll_loss".split())
_STEP = "optimizer.zero_grad()\nloss = {loss}\nloss.backward()\noptimizer.step()"
_FLAT = "import numpy as np\nx = np.random.randn(100, 8)\ny = x[:, 0] + 0.1"


@Detector("one output for several classes", family="script_output")
def script_output_width(training: Training) -> Places:
    """The last layer has one output where the loss needs one per class.

    Seen when `cross_entropy` gets the output of a linear layer with a single unit: softmax over one value is
    1, the loss is 0 whatever happens. In Keras: softmax on a Dense layer with one unit, or a categorical
    cross-entropy after one; and labels in the form of the other cross-entropy: `to_categorical` with the
    sparse one, class numbers with the categorical one.

    Silent when the width is not a plain number, and when it is not known how labels were made.
    Known mistake: none yet.
    """
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
    for model in keras:
        alone = model.units == 1 and (model.activation == "softmax" or "categorical" in model.loss)
        if alone and model.last is not None and model.last.spot is not None:
            findings.setdefault(
                id(model.last.spot.node),
                _finding(model.last.spot, model.event.spot, model.loss or "the loss"),
            )
    return [*findings.values(), *(finding for model in keras for finding in _labels(model))]


def _labels(model: Compiled) -> Iterator[Finding]:
    """Labels of a `fit` in a form that its loss does not take."""
    if model.loss not in (_SPARSE, _ONE_HOT):
        return
    for fit in model.fits:
        forms = {_form(value) for value in options(fit.value.argument(1, "y"))}
        expected = _ONE_HOT if model.loss == _SPARSE else _SPARSE
        if forms == {expected}:
            form = "one-hot vectors" if expected == _ONE_HOT else "class numbers"
            text = (
                f"{where(fit.spot)}: the labels of line {fit.spot.line} are {form}, and {model.loss} (line "
                f"{model.event.spot.line}) takes the other form: use {expected}."
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


@Detector("(N, 1) against (N,)", family="script_broadcast", measured_by="shapes_broadcast")
def script_shape_broadcast(case: Case, training: Training) -> Places:
    """Predictions of shape (N, 1) meet targets of shape (N,): the loss compares each with all.

    Seen when a regression loss, or a difference that the loss is made of, gets the output of a layer with
    one unit and targets that the source shows to be flat (or the other way round): they broadcast to (N, N),
    and the best the model can do is to predict the mean.

    Silent when the shape of either side is not shown. Known mistake: none yet.
    """
    if not (training.backwards or training.losses or training.tapes):
        return NO_LOOP
    if _measured_equal(case):
        return []
    clear, findings = False, dict[int, Finding]()
    for spot, output, target in [*_losses(training), *_differences(training)]:
        left, right = form(output), form(target)
        clear |= bool(left and right)
        if left and right and left != right:
            findings.setdefault(id(spot.node), _broadcast_finding(spot, left, output, target))
    if not clear:
        return Skipped("predictions and targets whose shapes the script shows")
    return [*findings.values()]


def _measured_equal(case: Case) -> bool:
    """Whether a recording shows the shapes at the loss, and that they are the same."""
    losses = case.inside.losses
    return bool(losses) and not any(
        loss.get("broadcasts", True) or loss.get("output_shape") != loss.get("target_shape")
        for loss in losses
    )


def _losses(training: Training) -> Iterator[tuple[Spot, Value, Value]]:
    for loss in training.losses:
        if loss.kind in _LOSSES and loss.target is not None and not loss.event.grad_off:
            yield loss.event.spot, loss.given, loss.target


def _differences(training: Training) -> Iterator[tuple[Spot, Value, Value]]:
    """`prediction - target` anywhere in what is backpropagated."""
    waiting: list[Value] = [loss_of(event) for event in training.backwards]
    waiting += [tape.loss for tape in training.tapes]
    visited: set[int] = set()
    while waiting and len(visited) < 5_000:
        at = waiting.pop()
        if id(at) in visited:
            continue
        visited.add(id(at))
        if isinstance(at, Made) and at.kind == "operator" and at.name == "Sub" and at.spot is not None:
            predicted = [bool(reach(operand).alive) or _of_keras(operand) for operand in at.args]
            if predicted[0] != predicted[1]:
                yield at.spot, at.args[0], at.args[1]
        waiting += parents(at)


def _of_keras(value: Value) -> bool:
    """Whether a tensor comes out of a layer of Keras."""
    calls = [call for call in upstream([value], most=100) if isinstance(call, Made) and call.kind == "apply"]
    return any(isinstance(call.receiver, Made) and is_layer(call.receiver) for call in calls)


def _broadcast_finding(spot: Spot, left: Form, output: Value, target: Value) -> Finding:
    first_shape, second_shape = ("(N, 1)", "(N,)") if left == "column" else ("(N,)", "(N, 1)")
    origins = [
        value.spot for value in (output, target) if value.spot is not None and value.spot.line != spot.line
    ]
    text = (
        f"{where(spot)}: {code(spot)} sets {first_shape} against {second_shape}: both are stretched to "
        "(N, N), and every prediction is compared with every target."
    )
    places = (place(spot), *(place(origin) for origin in origins[:2]))
    return Finding(text, "silent_defect", "high", places=places, edits=_edit(spot, left))


def _edit(spot: Spot, left: Form) -> tuple[Edit, ...]:
    """The flat side made a column, where it is a plain name."""
    node = spot.node
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else getattr(node, "args", [])
    if len(sides) < 2 or not isinstance(flat := sides[1 if left == "column" else 0], ast.Name):
        return ()
    side = Spot(spot.source, flat)
    if "torch" not in spot.source.text:
        return ()
    return replaced(side, f"{segment(side)}.unsqueeze(1)", "ask")


def _regression(
    targets: str, loss: str = "F.mse_loss(model(x), y)", forward: str = "self.out(self.first(x))"
) -> Script:
    data = (
        f"X = torch.randn(200, 8)\nt = {targets}\nloader = DataLoader(TensorDataset(X, t), 16, shuffle=True)"
    )
    body = _STEP.format(loss=loss)
    return script(init="self.out = nn.Linear(16, 1)", forward=f"return {forward}", setup=data, body=body)


def cases() -> Cases:
    yield from script_output_width.fires(
        script(setup="model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1))"),
        parse_script(_KERAS.format("softmax")),
        parse_script(_KERAS.format("softmax").replace("Dense(1", "Conv2D(1, 1").replace("Dense", "Conv2D")),
        parse_script(_FORMS.format("keras.utils.to_categorical(labels)", f"sparse_{_ONE_HOT}")),
        parse_script(_FORMS.format("scores.argmax(axis=1)", _ONE_HOT)),
    )
    yield from script_output_width.silent(
        script(),
        script(setup="classes = 1 if small else 4\nmodel = nn.Sequential(nn.Linear(8, classes))"),
        script(setup="if small:\n    model = nn.Linear(8, 1)\nelse:\n    model = nn.Linear(8, 4)"),
        parse_script(_KERAS.format("sigmoid")),
        parse_script(_FORMS.format("keras.utils.to_categorical(labels)", _ONE_HOT)),
        parse_script(_FORMS.format("scores.argmax(axis=1)", _SPARSE)),
        parse_script(_FORMS.format("load()", _ONE_HOT)),
    )
    yield from script_shape_broadcast.fires(
        _regression("torch.randn(200)"),
        _regression("X[:, 0] + 0.1"),
        _regression("X.sum(dim=1)", "((model(x) - y) ** 2).mean()"),
        _regression("torch.randn(200).unsqueeze(1)", "nn.MSELoss()(model(x).squeeze(), y)"),
        _regression("torch.randn(200)", "F.l1_loss(model(x), y.float())"),
    )

    yield from script_shape_broadcast.fires(
        taped("layers.Dense(1)", "tf.reduce_mean(tf.square(b - model(a)))", setup=_FLAT)
    )
    yield from script_shape_broadcast.silent(
        taped("layers.Dense(1)", "tf.reduce_mean(tf.square(b - model(a)[:, 0]))", setup=_FLAT),
        taped("layers.Dense(1)", "keras.losses.MeanSquaredError()(b, model(a))", setup=_FLAT),
        _regression("torch.randn(200, 1)"),
        _regression("torch.randn(200)", "F.mse_loss(model(x).squeeze(-1), y)"),
        _regression("torch.randn(200)", "F.mse_loss(model(x), y.unsqueeze(1))"),
        _regression("torch.randn(200)", "F.mse_loss(model(x), y.view(-1, 1))"),
        _regression("X.sum(dim=1, keepdim=True)"),
        _regression("torch.randn(200)", forward="self.out(self.first(x)).squeeze(1)"),
        _regression("load()"),
        _regression("((torch.arange(200) - torch.rand(200, 1)) ** 2).mean(dim=1, keepdim=True)"),
    )
