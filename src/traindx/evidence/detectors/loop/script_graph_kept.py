"""The loss is summed up or kept with its graph: memory grows with every step.

Seen when `total += loss` or `history.append(loss)` in a loop keeps a tensor that still hangs on the
layers it was computed by, outside of `no_grad()`. What was backpropagated keeps the nodes of its graph,
what was not (a validation) keeps all its activations.

Silent for sums that are backpropagated later, for `.item()`, `.detach()` and `float()`, and where the way
of the tensor back to the layers is not known. Known mistake: none yet.
"""

import ast
from collections.abc import Iterator

from traindx.evidence.detector import Detector, Finding, Severity
from traindx.evidence.detectors._script import Edit, Places, Scripts, Training, script
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, where
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.execution import Binding, CallEvent, Loop
from traindx.source.flow import reach
from traindx.source.values import ListValue, Made, Spot, Value, options, parents

DETECTOR = Detector(title="loss kept with its graph", family="script_kept_graph", measured_by="memory_creeps")
_OFF = ("no_grad", "inference_mode", "set_grad_enabled(False)", "set_grad_enabled(?)")


def detect(training: Training) -> Places:
    if not any(e.loops for e in training.backwards):
        return NO_LOOP
    losses = [loss_of(event) for event in training.backwards]
    used = _ancestors(losses)
    for gradient in training.made_gradients:
        used |= _ancestors([gradient.value])
    findings: dict[int, Finding] = {}
    stored: list[tuple[str, Value, Value, Binding | CallEvent]] = [*_sums(training), *_lists(training)]
    for name, item, into, at in stored:
        if id(into) in used or any(c.endswith(_OFF) for c in at.contexts) or not _has_graph(item):
            continue
        if isinstance(at, CallEvent) and (at.handed or _read_again(training, item, into, losses, used)):
            continue
        findings.setdefault(id(at.spot.node), _finding(training, name, item, at, used))
    return [*findings.values()]


def _has_graph(item: Value) -> bool:
    """Whether every way a value may have come about leads to layers."""
    ways = options(item)
    return bool(ways) and all(isinstance(way, Made) and reach(way).alive for way in ways)


def _read_again(training: Training, item: Value, into: Value, losses: list[Value], used: set[int]) -> bool:
    """Whether a list is emptied, or a loss is made of what it holds."""
    emptied = [e for e in training.trace.methods("clear", "pop", "popleft") if e.loops]
    part_of_loss = id(item) in used and not any(item is loss for loss in losses)
    return part_of_loss or any(e.value.receiver is into for e in emptied)


def _sums(training: Training) -> Iterator[tuple[str, Value, Value, Binding]]:
    """`total += loss`, `total = total + loss` with a total that the loop does not begin anew."""
    for b in training.trace.bindings:
        call = b.value
        if not b.loops or not isinstance(call, Made) or call.kind != "operator" or not _adds(b):
            continue
        if b.owner is None and _in_forward(b):
            continue
        if call.name == "Add" and len(call.args) == 2 and not _begun(training, b, _stepping(training, b)):
            yield b.name, call.args[1], call, b


def _adds(binding: Binding) -> bool:
    """Whether a name gets what it was and something more."""
    node = binding.spot.node
    if binding.added or not isinstance(node, ast.Assign) or not isinstance(node.value, ast.BinOp):
        return binding.added
    return ast.unparse(node.value.left) == ast.unparse(node.targets[0])


def _in_forward(added: Binding) -> bool:
    """Whether it is a variable of a forward pass: a sum over layers, which ends with the call."""
    return any(
        isinstance(node, ast.FunctionDef)
        and node.name in ("forward", "call", "__call__")
        and node.lineno <= added.spot.line <= (node.end_lineno or node.lineno)
        for node in ast.walk(added.spot.source.tree)
    )


def _stepping(training: Training, added: Binding) -> Loop:
    """The loop that makes the steps where a sum is made inside of one, over layers; else the innermost."""
    steps = [event.loops[-1] for event in training.backwards if event.loops]
    return next((loop for loop in reversed(added.loops) if loop in steps), added.loops[-1])


def _begun(training: Training, added: Binding, loop: Loop) -> bool:
    """Whether the sum begins in the loop it is added to in."""
    return any(
        b.name == added.name and b.owner is added.owner and loop in b.loops and not _adds(b)
        for b in training.trace.bindings
    )


def _lists(training: Training) -> Iterator[tuple[str, Value, Value, CallEvent]]:
    """`history.append(loss)` with a list made outside the loop."""
    for event in training.trace.methods("append"):
        receiver = event.value.receiver
        node = event.spot.node
        if not event.loops or not isinstance(receiver, ListValue) or len(event.value.args) != 1:
            continue
        origin_spot = receiver.spot
        inside = origin_spot is not None and any(
            _contains(loop.spot.node, origin_spot.node) for loop in event.loops[-1:]
        )
        if not inside and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield ast.unparse(node.func.value), event.value.args[0], receiver, event


def _contains(outer: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(outer))


def _ancestors(values: list[Value]) -> set[int]:
    """Everything that values were made of, by id."""
    visited: set[int] = set()
    waiting = list(values)
    while waiting and len(visited) < 50_000:
        at = waiting.pop()
        if id(at) not in visited:
            visited.add(id(at))
            waiting += parents(at)
    return visited


def _finding(training: Training, name: str, item: Value, at: Binding | CallEvent, used: set[int]) -> Finding:
    spent = id(item) in used
    outer = at.loops[-2] if len(at.loops) > 1 else None
    anew = outer is not None and isinstance(at, Binding) and _begun(training, at, outer)
    severity: Severity = "medium" if not spent or (outer is not None and not anew) else "low"
    content = "the graph of every step" if spent else "the activations of every batch"
    until = " until it is reset" if anew else ""
    text = (
        f"{where(at.spot)}: {code(at.spot)} keeps the tensor, and with it {content}, in `{name}`{until}: "
        "memory grows. `.item()` keeps the number only."
    )
    return Finding(text, "memory_growth", severity, places=(place(at.spot),), edits=_edit(at))


def _edit(at: Binding | CallEvent) -> tuple[Edit, ...]:
    """`.item()` behind a plain name."""
    node = at.spot.node
    expression = node.value if isinstance(node, ast.AugAssign) else None
    if isinstance(node, ast.Call):
        expression = node.args[0]
    if not isinstance(expression, ast.Name):
        return ()
    spot = Spot(at.spot.source, expression)
    return replaced(spot, f"{segment(spot)}.item()", "ask")


_STEP = "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()\n"
_SPLIT = (
    "optimizer.zero_grad()\nloss = 0\nfor part in x:\n    loss += criterion(model(part), y)\n"
    "loss.backward()\noptimizer.step()"
)


def fires() -> Scripts:
    yield script(start="total = 0.0", body=_STEP + "total += loss")
    yield script(after="total = 0.0", body=_STEP + "total = total + loss")
    yield script(after="history = []", body=_STEP + "history.append(loss)")
    yield script(end="total = 0.0\nfor x, y in valid:\n    total += criterion(model(x), y)")


def silent() -> Scripts:
    yield script(start="total = 0.0", body=_STEP + "total += loss.item()")
    yield script(start="total = 0.0", body=_STEP + "total += loss.detach() * len(x)")
    yield script(body=_SPLIT)
    yield script(
        end="total = 0\nwith torch.no_grad():\n    for x, y in valid: total += criterion(model(x), y)"
    )
    yield script(body=_STEP + "parts = []\nparts.append(loss)")
