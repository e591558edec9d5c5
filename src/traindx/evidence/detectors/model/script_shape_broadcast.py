"""Predictions of shape (N, 1) meet targets of shape (N,): the loss compares each with all.

Seen when a regression loss, or a difference that the loss is made of, gets the output of a layer with one
unit and targets that the source shows to be flat (or the other way round): they broadcast to (N, N), and the
best the model can do is to predict the mean.

Silent when the shape of either side is not shown. Known mistake: none yet.
"""

import ast
from collections.abc import Iterator

from traindx.evidence.detectors._script import (
    Case,
    Detector,
    Edit,
    Finding,
    Places,
    Script,
    Scripts,
    Skipped,
    Training,
    script,
)
from traindx.evidence.detectors._script.columns import Form, form
from traindx.evidence.detectors._script.keras_samples import taped
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, where
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.flow import reach
from traindx.source.keras import is_layer
from traindx.source.values import Made, Spot, Value, parents, upstream

DETECTOR = Detector(title="(N, 1) against (N,)", family="script_broadcast")
_LOSSES = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss poisson_nll_loss".split())


def detect(case: Case, training: Training) -> Places:
    if not (training.backwards or training.losses or training.tapes):
        return NO_LOOP
    if _measured_equal(case):
        return []
    known, found = False, dict[int, Finding]()
    for spot, given, target in [*_losses(training), *_differences(training)]:
        one, other = form(given), form(target)
        known |= bool(one and other)
        if one and other and one != other:
            found.setdefault(id(spot.node), _finding(spot, one, given, target))
    if not known:
        return Skipped("predictions and targets whose shapes the script shows")
    return [*found.values()]


def _measured_equal(case: Case) -> bool:
    """Whether a recording shows the shapes at the loss, and that they are the same."""
    losses = case.inside.losses
    return bool(losses) and not any(
        one.get("broadcasts", True) or one.get("output_shape") != one.get("target_shape") for one in losses
    )


def _losses(training: Training) -> Iterator[tuple[Spot, Value, Value]]:
    for loss in training.losses:
        if loss.kind in _LOSSES and loss.target is not None and not loss.event.grad_off:
            yield loss.event.spot, loss.given, loss.target


def _differences(training: Training) -> Iterator[tuple[Spot, Value, Value]]:
    """`prediction - target` anywhere in what is backpropagated."""
    waiting: list[Value] = [loss_of(event) for event in training.backwards]
    waiting += [one.loss for one in training.tapes]
    visited: set[int] = set()
    while waiting and len(visited) < 5_000:
        at = waiting.pop()
        if id(at) in visited:
            continue
        visited.add(id(at))
        if isinstance(at, Made) and at.kind == "operator" and at.name == "Sub" and at.spot is not None:
            predicted = [bool(reach(one).alive) or _of_keras(one) for one in at.args]
            if predicted[0] != predicted[1]:
                yield at.spot, at.args[0], at.args[1]
        waiting += parents(at)


def _of_keras(value: Value) -> bool:
    """Whether a tensor comes out of a layer of Keras."""
    made = [one for one in upstream([value], most=100) if isinstance(one, Made) and one.kind == "apply"]
    return any(isinstance(one.receiver, Made) and is_layer(one.receiver) for one in made)


def _finding(spot: Spot, one: Form, given: Value, target: Value) -> Finding:
    first_shape, second_shape = ("(N, 1)", "(N,)") if one == "column" else ("(N,)", "(N, 1)")
    made = [
        value.spot for value in (given, target) if value.spot is not None and value.spot.line != spot.line
    ]
    text = (
        f"{where(spot)}: {code(spot)} sets {first_shape} against {second_shape}: both are stretched to "
        "(N, N), and every prediction is compared with every target."
    )
    places = (place(spot), *(place(one) for one in made[:2]))
    return Finding(text, "silent_defect", "high", places=places, edits=_edit(spot, one))


def _edit(spot: Spot, one: Form) -> tuple[Edit, ...]:
    """The flat side made a column, where it is a plain name."""
    node = spot.node
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else getattr(node, "args", [])
    if len(sides) < 2 or not isinstance(flat := sides[1 if one == "column" else 0], ast.Name):
        return ()
    side = Spot(spot.source, flat)
    if "torch" not in spot.source.text:
        return ()
    return replaced(side, f"{segment(side)}.unsqueeze(1)", "ask")


_STEP = "optimizer.zero_grad()\nloss = {loss}\nloss.backward()\noptimizer.step()"


def _regression(
    targets: str, loss: str = "F.mse_loss(model(x), y)", forward: str = "self.out(self.first(x))"
) -> Script:
    data = (
        f"X = torch.randn(200, 8)\nt = {targets}\nloader = DataLoader(TensorDataset(X, t), 16, shuffle=True)"
    )
    body = _STEP.format(loss=loss)
    return script(init="self.out = nn.Linear(16, 1)", forward=f"return {forward}", setup=data, body=body)


def fires() -> Scripts:
    yield _regression("torch.randn(200)")
    yield _regression("X[:, 0] + 0.1")
    yield _regression("X.sum(dim=1)", "((model(x) - y) ** 2).mean()")
    yield _regression("torch.randn(200).unsqueeze(1)", "nn.MSELoss()(model(x).squeeze(), y)")
    yield _regression("torch.randn(200)", "F.l1_loss(model(x), y.float())")

    yield taped("layers.Dense(1)", "tf.reduce_mean(tf.square(b - model(a)))", setup=_FLAT)


_FLAT = "import numpy as np\nx = np.random.randn(100, 8)\ny = x[:, 0] + 0.1"


def silent() -> Scripts:
    yield taped("layers.Dense(1)", "tf.reduce_mean(tf.square(b - model(a)[:, 0]))", setup=_FLAT)
    yield taped("layers.Dense(1)", "keras.losses.MeanSquaredError()(b, model(a))", setup=_FLAT)
    yield _regression("torch.randn(200, 1)")
    yield _regression("torch.randn(200)", "F.mse_loss(model(x).squeeze(-1), y)")
    yield _regression("torch.randn(200)", "F.mse_loss(model(x), y.unsqueeze(1))")
    yield _regression("torch.randn(200)", "F.mse_loss(model(x), y.view(-1, 1))")
    yield _regression("X.sum(dim=1, keepdim=True)")
    yield _regression("torch.randn(200)", forward="self.out(self.first(x)).squeeze(1)")
    yield _regression("load()")
    yield _regression("((torch.arange(200) - torch.rand(200, 1)) ** 2).mean(dim=1, keepdim=True)")
