"""A logarithm, root or division by hand may meet zero.

Seen when in what the loss is made of `log` is taken of a sigmoid or softmax, or of one minus it, `sqrt`
of a sum of squares, or something is divided by a norm, sum or standard deviation, with no small number
added and no clamp.

Such code works until it meets the edge: reported as doubtful. Silent when anything is added inside. Known
mistake: values that cannot be zero for reasons the source does not show.
"""

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Training, script
from traindx.evidence.detectors._script.keras_samples import taped
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, where
from traindx.source.domains import LOGARITHMS
from traindx.source.edit_pieces import place
from traindx.source.flow import reach
from traindx.source.roles import operation, unshaped
from traindx.source.values import Made, Value, number, options, parents

DETECTOR = Detector(title="logarithm, root or division unguarded", family="script_math")
_BODY = "optimizer.zero_grad()\n{}\nloss.backward()\noptimizer.step()"


def detect(training: Training) -> Places:
    backwards = [e for e in training.backwards if e.loops]
    if not backwards and not training.tapes:
        return NO_LOOP
    findings: dict[int, Finding] = {}
    visited: set[int] = set()
    waiting = [*(loss_of(event) for event in backwards), *(tape.loss for tape in training.tapes)]
    while waiting and len(visited) < 20_000:
        at = waiting.pop()
        if id(at) in visited:
            continue
        visited.add(id(at))
        waiting += parents(at)
        why = _edge(at) if isinstance(at, Made) and at.graded else ""
        if why and isinstance(at, Made) and at.spot is not None:
            findings.setdefault(id(at.spot.node), _finding(at, why))
    return sorted(findings.values(), key=lambda finding: finding.places[0].line or 0)


def _edge(call: Made) -> str:
    """At what an operation breaks; empty when it is guarded or not known to come near."""
    inside = call.receiver if call.kind == "method" else (call.args[0] if call.args else None)
    name = operation(call)
    if name in LOGARITHMS and inside is not None and all(_saturates(value) for value in options(inside)):
        return "log(0) is -Inf where the probability rounds to 0 or 1"
    if name == "sqrt" and inside is not None and all(_sum_of_squares(value) for value in options(inside)):
        return "the gradient of sqrt is infinite at 0"
    if call.kind == "operator" and name == "Div" and len(call.args) == 2 and _may_vanish(call.args[1]):
        return "the divisor may be 0"
    return ""


def _saturates(value: Value) -> bool:
    value = unshaped(value)
    if isinstance(value, Made) and value.kind == "operator" and value.name == "Sub":
        return number(value.args[0]) == 1 and _saturates(value.args[1])
    return operation(value) in ("sigmoid", "softmax")


def _sum_of_squares(value: Value) -> bool:
    if operation(value) not in ("sum", "mean", "reduce_sum", "reduce_mean") or not isinstance(value, Made):
        return False
    inner = value.receiver if value.kind == "method" else (value.args[0] if value.args else None)
    return isinstance(inner, Made) and operation(inner) in ("Pow", "pow", "square")


def _may_vanish(value: Value) -> bool:
    """Whether a divisor is a plain norm, spread or sum of a tensor of the model."""
    plain = isinstance(value, Made) and operation(value) in ("norm", "std", "var")
    return plain and bool(reach(value).alive)


def _finding(call: Made, why: str) -> Finding:
    assert call.spot is not None
    text = f"{where(call.spot)}: {code(call.spot)} has no guard: {why} (line {call.spot.line})."
    return Finding(text, places=(place(call.spot),))


def fires() -> Scripts:
    yield script(body=_BODY.format("p = torch.sigmoid(model(x))\nloss = -(y * torch.log(p)).mean()"))
    yield script(body=_BODY.format("loss = torch.sqrt(((model(x) - y) ** 2).sum(1)).mean()"))
    yield taped(loss="tf.reduce_mean(tf.sqrt(tf.reduce_sum(tf.square(model(a) - b), axis=1)))")
    yield taped('layers.Dense(3, activation="softmax")', "-tf.reduce_mean(b * tf.math.log(model(a)))")
    yield script(body=_BODY.format("z = model(x)\nloss = (z / z.norm(dim=1, keepdim=True)).mean()"))


def silent() -> Scripts:
    yield script()
    yield taped(loss="tf.reduce_mean(tf.sqrt(tf.reduce_sum(tf.square(model(a) - b), axis=1) + 1e-8))")
    yield taped('layers.Dense(3, activation="softmax")', "-tf.reduce_mean(b * tf.math.log(model(a) + 1e-7))")
    yield script(body=_BODY.format("p = torch.sigmoid(model(x))\nloss = -(y * torch.log(p + 1e-8)).mean()"))
    yield script(
        body=_BODY.format("p = torch.sigmoid(model(x)).clamp(1e-6, 1)\nloss = -(y * torch.log(p)).mean()")
    )
    yield script(body=_BODY.format("loss = torch.sqrt(((model(x) - y) ** 2).sum(1) + 1e-9).mean()"))
