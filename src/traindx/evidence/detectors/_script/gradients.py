"""Whether gradients are there when the optimizer steps."""

from __future__ import annotations

from traindx.core.nouns import Edit, Grade
from traindx.source.edit_pieces import put_after, put_before, segment
from traindx.source.roles import is_scaler
from traindx.source.training import Iteration, Step, Training, Zero
from traindx.source.values import Const, Made, Spot, Value


def certain_zeros(iteration: Iteration) -> list[Zero]:
    """Those that are made whenever the optimizer steps."""
    step = iteration.step.event
    return [
        zero
        for zero in iteration.zeros
        if zero.arms == step.arms[: len(zero.arms)] and zero.loops[: len(step.loops)] == step.loops
    ]


def gradient_reaches(training: Training, iteration: Iteration) -> bool:
    """Whether a backward pass comes before the step, with nothing that clears in between."""
    step = iteration.step.event
    if any(iteration.loop in gradient.loops for gradient in training.made_gradients):
        return True
    if step.handed or any(event.handed for event in iteration.backwards):
        return True
    moments = [(event.at, "backward") for event in iteration.backwards]
    moments += [(zero.at, "zero") for zero in certain_zeros(iteration)]
    moments.append((step.at, "step"))
    full = False
    for _ in range(2):
        for _, kind in sorted(moments):
            if kind == "step" and full:
                return True
            full = kind == "backward" or (full and kind != "zero")
    return False


def scales_loss(scaler: Value | None) -> bool:
    """Whether a value is surely a GradScaler that is switched on."""
    if not isinstance(scaler, Made) or scaler.kind != "call" or not is_scaler(scaler) or scaler.open:
        return False
    enabled = scaler.keywords.get("enabled")
    return enabled is None or (isinstance(enabled, Const) and enabled.value is True)


def optimizer_code(step: Step) -> str:
    """The optimizer of a step as the script writes it."""
    import ast

    node = step.event.spot.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    optimizer: ast.expr = node.args[0] if step.scaler is not None and node.args else node.func.value
    return segment(Spot(step.event.spot.source, optimizer))


def clearing_edit(iteration: Iteration) -> tuple[Edit, ...]:
    """`zero_grad()` right after the step, or in the closure before its backward pass."""
    name, step = optimizer_code(iteration.step), iteration.step.event
    plain = all(part.isidentifier() for part in name.split("."))
    if not name or not plain:
        return ()
    closure = bool(step.value.args) and iteration.step.scaler is None
    grade: Grade = "safe" if len(iteration.backwards) == 1 else "ask"
    if closure:
        return put_before(iteration.backwards[0].spot, f"{name}.zero_grad()", "ask")
    return put_after(step.spot, f"{name}.zero_grad()", grade)
