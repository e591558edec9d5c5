"""Predictions of shape (N, 1) meet targets of shape (N,): each is compared with every target.

Seen when one side of a regression loss, or of a difference that the loss is made of, ends in a dimension
of width 1 and the other has one dimension less, both told by the source: layers, slices, sums, what a
loader over tensors gives.

Silent when either shape is not known. Known mistake: none yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import NO_LOOP, Looked, code, first, loss_of, training_of, where
from traindx.script import Script
from traindx.script.mending import place
from traindx.script.shapes import Shape, shape
from traindx.script.values import Made, Spot, Value, options, parents
from traindx.units import Detector

DETECTOR = Detector(title="(N, 1) against (N,)", needs=("script",), family="script_shapes")
_REGRESSION = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss".split())
_DATA = (
    "X = torch.randn(64, 8)\nloader = DataLoader(TensorDataset(X, {}), shuffle=True)\n"
    "net = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1))"
)
_BODY = "optimizer.zero_grad()\nloss = {}\nloss.backward()\noptimizer.step()"


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    backwards = [e for e in training.backwards if e.loops] if training is not None else []
    if training is None or not backwards:
        return NO_LOOP
    pairs = [(x.given, x.target, x.event.spot) for x in training.losses if x.kind in _REGRESSION]
    pairs += _differences([loss_of(event) for event in backwards])
    known = [(shape(one), shape(other), spot) for one, other, spot in pairs]
    if not any(one.rank is not None or one.last is not None for one, _, _ in known):
        return Skipped("a regression loss whose shapes the source tells")
    found: dict[int, Finding] = {}
    for one, other, spot in known:
        if _broadcast(one, other) or _broadcast(other, one):
            found.setdefault(id(spot.node), _finding(spot))
    return [*found.values()]


def _broadcast(column: Shape, row: Shape) -> bool:
    """Whether the one is (N, 1) and the other (N,)."""
    return column.last == 1 and column.rank in (None, 2) and row.rank == 1 and row.last != 1


def _differences(losses: list[Value]) -> list[tuple[Value, Value | None, Spot]]:
    """Every difference that losses are made of."""
    found: list[tuple[Value, Value | None, Spot]] = []
    seen: set[int] = set()
    waiting = [one for loss in losses for one in options(loss)]
    while waiting and len(seen) < 5_000:
        at = waiting.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        waiting += parents(at)
        if isinstance(at, Made) and at.kind == "operator" and at.name == "Sub" and at.spot is not None:
            found.append((at.args[0], at.args[1], at.spot))
    return found


def _finding(spot: Spot) -> Finding:
    text = (
        f"{where(spot)}: {code(spot)} compares shapes (N, 1) and (N,), which broadcast to (N, N): every "
        "prediction is measured against every target."
    )
    return Finding(text, "silent_defect", "high", places=(place(spot),))


def fires() -> Iterator[Script]:
    yield script(setup=_DATA.format("X.sum(1)"), body=_BODY.format("F.mse_loss(net(x), y)"))
    yield script(setup=_DATA.format("X[:, 0]"), body=_BODY.format("((net(x) - y) ** 2).mean()"))


def silent() -> Iterator[Script]:
    yield script(setup=_DATA.format("X.sum(1, keepdim=True)"), body=_BODY.format("F.mse_loss(net(x), y)"))
    yield script(setup=_DATA.format("X.sum(1)"), body=_BODY.format("F.mse_loss(net(x).squeeze(-1), y)"))
    yield script(setup=_DATA.format("X.sum(1)"), body=_BODY.format("F.mse_loss(net(x), y.unsqueeze(1))"))
    yield script(setup=_DATA.format("load()"), body=_BODY.format("F.mse_loss(net(x), y)"))
    yield script()
