"""A GradScaler is used by halves: the optimizer steps past it, or it is never updated.

Seen when `scaler.scale(loss).backward()` is followed by `optimizer.step()` with nothing that divides the
gradients again; when `scaler.step(optimizer)` is never followed by `scaler.update()`: the factor does not
adapt, and a second step is refused; and when no loss is scaled at all. With `tf.GradientTape`: a
`LossScaleOptimizer` whose `scale_loss` nothing calls.

Silent when the scaler is switched off or not known for sure. Known mistake: gradients divided by hand.
"""

from traindx.evidence.detector import Detector, Finding, Skipped
from traindx.evidence.detectors._script import Edit, Iteration, Places, Scripts, Training, script
from traindx.evidence.detectors._script.gradients import scales_loss
from traindx.evidence.detectors._script.keras_samples import taped
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place, put_after, replaced, segment
from traindx.source.roles import is_scaler
from traindx.source.values import Made, Spot

DETECTOR = Detector(title="GradScaler half used", family="script_scaler")


def detect(training: Training) -> Places:
    if training.tapes:
        return _taped(training)
    if not any(is_scaler(e.value) for e in training.trace.events if e.value.kind == "call"):
        return Skipped()
    findings: dict[int, Finding] = {}
    for iteration in training.iterations:
        checks = (check(training, iteration) for check in (_past, _never_scaled, _never_updated))
        finding = next(filter(None, checks), None)
        if finding is not None and not iteration.step.event.handed:
            findings.setdefault(id(iteration.step.event.spot.node), finding)
    return [*findings.values()]


def _taped(training: Training) -> list[Finding]:
    """Keras' optimizer that divides gradients of a tape by a factor, and no loss is multiplied by it."""
    scaled = {id(e.value.receiver) for e in training.trace.methods("scale_loss", "get_scaled_loss")}
    findings: dict[int, Finding] = {}
    for event in training.trace.methods("apply", "apply_gradients"):
        scaler = event.value.receiver
        spots = [tape.event.spot for tape in training.tapes if tape.event.functions == event.functions]
        if not isinstance(scaler, Made) or scaler.short != "LossScaleOptimizer" or scaler.spot is None:
            continue
        if spots and id(scaler) not in scaled:
            text = (
                f"{where(spots[0])}: {code(spots[0])} takes gradients of a loss that is not scaled, and "
                f"{code(scaler.spot)} (line {scaler.spot.line}) divides them by its factor: "
                "`optimizer.scale_loss(loss)` belongs here."
            )
            places = (place(spots[0]), place(scaler.spot))
            findings.setdefault(id(scaler), Finding(text, "silent_defect", "high", places=places))
    return [*findings.values()]


def _past(training: Training, iteration: Iteration) -> Finding | None:
    """A scaled backward pass and a plain step."""
    step = iteration.step
    if step.scaler is not None or any(iteration.loop in g.loops for g in training.made_gradients):
        return None
    scaled = [
        (b, b.value.receiver)
        for b in iteration.backwards
        if isinstance(b.value.receiver, Made) and b.value.receiver.name == "scale" and not b.handed
    ]
    undone = training.trace.methods("unscale_", "div_", "mul_", "copy_")
    if not scaled or any(iteration.loop in e.loops for e in undone):
        return None
    backward, scaled_loss = scaled[-1]
    if not scales_loss(scaled_loss.receiver) or backward.arms != step.event.arms[: len(backward.arms)]:
        return None
    text = (
        f"{where(step.event.spot)}: {code(step.event.spot)} steps with gradients that the scaler made "
        f"tens of thousands of times larger ({code(backward.spot)}, line {backward.spot.line}): "
        "scaler.step() and scaler.update() belong here."
    )
    return Finding(
        text,
        "silent_defect",
        "high",
        places=(place(step.event.spot), place(backward.spot)),
        edits=_steps(iteration, scaled_loss),
    )


def _steps(iteration: Iteration, scaled: Made) -> tuple[Edit, ...]:
    """`scaler.step(optimizer)`, to be shown."""
    import ast

    spot = iteration.step.event.spot
    node, by = spot.node, scaled.spot.node if scaled.spot is not None else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args:
        return ()
    if not isinstance(by, ast.Call) or not isinstance(by.func, ast.Attribute):
        return ()
    scaler, optimizer = ast.unparse(by.func.value), ast.unparse(node.func.value)
    return replaced(spot, f"{scaler}.step({optimizer}); {scaler}.update()", "ask")


def _never_scaled(training: Training, iteration: Iteration) -> Finding | None:
    step, scaler = iteration.step.event, iteration.step.scaler
    if (
        scaler is None
        or not scales_loss(scaler)
        or training.trace.methods("scale")
        or not training.followed("scale")
    ):
        return None
    if training.given_away(scaler, iteration.loop):
        return None
    backward = iteration.backwards[0].spot
    text = (
        f"{where(step.spot)}: {code(step.spot)} divides by a factor that {code(backward)} "
        f"(line {backward.line}) never multiplied: scaler.scale(loss).backward() belongs there."
    )
    return Finding(text, "silent_defect", "high", places=(place(step.spot), place(backward)))


def _never_updated(training: Training, iteration: Iteration) -> Finding | None:
    step, scaler = iteration.step.event, iteration.step.scaler
    if not scales_loss(scaler) or not training.followed("update"):
        return None
    updates = [
        e
        for e in training.trace.methods("update")
        if e.value.receiver is scaler or not isinstance(e.value.receiver, Made)
    ]
    if updates or training.given_away(scaler, iteration.loop):  # type: ignore[arg-type]
        return None
    text = (
        f"{where(step.spot)}: after {code(step.spot)} nothing calls the scaler's update(): its factor never "
        "adapts and the next step is refused."
    )
    import ast

    node, edits = step.spot.node, tuple[Edit, ...]()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = segment(Spot(step.spot.source, node.func.value))
        edits = put_after(step.spot, f"{name}.update()", "safe")
    return Finding(text, "silent_defect", "high", places=(place(step.spot),), edits=edits)


_SCALER = "scaler = torch.amp.GradScaler()"
_BACK = "optimizer.zero_grad()\nloss = criterion(model(x), y)\nscaler.scale(loss).backward()\n"


def fires() -> Scripts:
    yield script(after=_SCALER, body=_BACK + "optimizer.step()")
    yield script(after=_SCALER, body=_BACK + "optimizer.step()\nscaler.update()")
    yield script(after=_SCALER, body=_BACK + "scaler.step(optimizer)")
    yield script(after=_SCALER, body=_PLAIN)
    yield taped(after=_LOSS_SCALE)


_LOSS_SCALE = "optimizer = keras.mixed_precision.LossScaleOptimizer(optimizer)"
_PLAIN = "optimizer.zero_grad()\ncriterion(model(x), y).backward()\nscaler.step(optimizer)\nscaler.update()"


def silent() -> Scripts:
    yield script(after=_SCALER, body=_BACK + "scaler.step(optimizer)\nscaler.update()")
    yield taped()
    yield taped(after=_LOSS_SCALE, loss="optimizer.scale_loss(loss_fn(b, model(a)))")
    yield script(after="scaler = torch.amp.GradScaler(enabled=False)", body=_BACK + "optimizer.step()")
    yield script(after=_SCALER, body=_BACK + "scaler.unscale_(optimizer)\noptimizer.step()\nscaler.update()")
    yield script()
