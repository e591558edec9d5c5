"""A GradScaler is used by halves: scaled losses, plain steps, or no update.

Seen when the script backpropagates `scaler.scale(loss)` but steps the optimizer itself; when
`scaler.step()` is called and no loss was scaled; and when `scaler.update()` is missing.

Silent when a plain way stands beside the scaled one (a switch for mixed precision). Known mistake: none
yet.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Edit, Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import NO_LOOP, Looked, code, first, training_of, where
from traindx.script import Script
from traindx.script.mending import place, put_after
from traindx.script.roles import is_scaler
from traindx.script.trace import Event
from traindx.units import Detector

DETECTOR = Detector(title="loss scaler half used", needs=("script",), family="script_scaler")
_SCALER = "scaler = torch.cuda.amp.GradScaler()"
_BODY = "optimizer.zero_grad()\nloss = criterion(model(x), y)\n{}\n{}\n{}"


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None or not training.iterations:
        return NO_LOOP
    scales = [e for e in training.trace.methods("scale") if is_scaler(e.value.receiver)]
    stepped = [one for one in training.steps if one.scaler is not None]
    if not scales and not stepped:
        return Skipped("a loss scaler")
    if not (training.followed("update") and training.followed("scale")):
        return Skipped("a way from the script's start to each call of its scaler")
    updates = [e for e in training.trace.methods("update") if is_scaler(e.value.receiver)]
    plain = [one for one in training.steps if one.scaler is None]
    if scales and not stepped and plain and not any(e.arms for e in scales):
        return [
            _finding(
                plain[0].event,
                f"steps with gradients that line {scales[0].spot.line} multiplied by the loss scale",
            )
        ]
    if stepped and not scales:
        return [
            _finding(
                stepped[0].event, "divides the gradients by a loss scale that no loss was multiplied with"
            )
        ]
    if stepped and not updates:
        return [
            _finding(
                stepped[0].event, "is never followed by update(): the loss scale cannot adapt", update=True
            )
        ]
    return []


def _finding(event: Event, why: str, *, update: bool = False) -> Finding:
    text = f"{where(event.spot)}: {code(event.spot)} {why}."
    edits: tuple[Edit, ...] = ()
    if update and isinstance(event.spot.node, ast.Call) and isinstance(event.spot.node.func, ast.Attribute):
        edits = put_after(event.spot, f"{ast.unparse(event.spot.node.func.value)}.update()", "safe")
    return Finding(text, "silent_defect", "high", places=(place(event.spot),), edits=edits)


def fires() -> Iterator[Script]:
    yield script(
        setup=_SCALER,
        body=_BODY.format("scaler.scale(loss).backward()", "optimizer.step()", "scaler.update()"),
    )
    yield script(
        setup=_SCALER, body=_BODY.format("loss.backward()", "scaler.step(optimizer)", "scaler.update()")
    )
    yield script(
        setup=_SCALER, body=_BODY.format("scaler.scale(loss).backward()", "scaler.step(optimizer)", "pass")
    )


def silent() -> Iterator[Script]:
    yield script(
        setup=_SCALER,
        body=_BODY.format("scaler.scale(loss).backward()", "scaler.step(optimizer)", "scaler.update()"),
    )
    yield script(
        setup=_SCALER,
        body=_BODY.format(
            "(scaler.scale(loss) if amp else loss).backward()",
            "scaler.step(optimizer) if amp else optimizer.step()",
            "if amp: scaler.update()",
        ),
    )
    yield script()
