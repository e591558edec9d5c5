"""Dropout stays on in evaluation: no training flag is given, or the layer is new at each call.

Seen when `F.dropout` is called without `training=` (its default is True, whatever mode the model is in),
or when `nn.Dropout(...)` is constructed inside `forward`: a new layer is always in train mode.

Silent for `F.dropout(..., training=self.training)`. Known mistake: dropout that is meant to stay on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Edit, Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import Looked, code, first, training_of, where
from traindx.script import Script
from traindx.script.mending import place, replaced, segment
from traindx.script.trace import Event
from traindx.script.values import Const, Spot
from traindx.units import Detector

DETECTOR = Detector(title="dropout on in evaluation", needs=("script",), family="script_mode")


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None:
        return Skipped("a script that can be followed")
    drops = [
        e for e in training.trace.events if e.value.short.lower().startswith(("dropout", "alpha_dropout"))
    ]
    if not drops:
        return Skipped("a model with dropout")
    found: dict[int, Finding] = {}
    for event in (e for e in drops if e.value.kind == "call"):
        if (event.value.name.startswith("torch.nn.functional.") and _always(event)) or (
            event.value.name.startswith("torch.nn.Dropout") and _in_forward(event)
        ):
            found.setdefault(id(event.spot.node), _finding(event))
    return [*found.values()]


def _always(event: Event) -> bool:
    given = event.value.argument(2, "training")
    return not event.value.open and (given is None or (isinstance(given, Const) and given.value is True))


def _in_forward(event: Event) -> bool:
    """Whether the innermost function around it is `forward`, and the layer is called on the spot."""
    inner = event.functions[-1] if event.functions else None
    around = event.spot.source.parents.get(event.spot.node)
    return (
        getattr(inner, "name", "") == "forward"
        and isinstance(around, ast.Call)
        and around.func is event.spot.node
    )


def _finding(event: Event) -> Finding:
    new = event.value.short.startswith("Dropout")
    why = (
        "is a new layer at each call, always in train mode"
        if new
        else "has no `training=`, whose default is True"
    )
    text = f"{where(event.spot)}: {code(event.spot)} {why}: dropout goes on when the model is evaluated."
    edits: tuple[Edit, ...] = ()
    node, inner = event.spot.node, event.functions[-1] if event.functions else None
    method = isinstance(inner, ast.FunctionDef) and inner.args.args and inner.args.args[0].arg == "self"
    if not new and method and isinstance(node, ast.Call) and len(node.args) < 3:
        text_of = segment(Spot(event.spot.source, node))
        if text_of.endswith(")") and "\n" not in text_of and "training" not in text_of:
            edits = replaced(event.spot, text_of[:-1].rstrip(", ") + ", training=self.training)", "safe")
    return Finding(text, "silent_defect", "high", places=(place(event.spot),), edits=edits)


def fires() -> Iterator[Script]:
    yield script(forward="return self.second(F.dropout(torch.relu(self.first(x)), 0.5))")
    yield script(forward="return self.second(nn.Dropout(0.5)(torch.relu(self.first(x))))")


def silent() -> Iterator[Script]:
    yield script(forward="return self.second(F.dropout(torch.relu(self.first(x)), 0.5, self.training))")
    yield script(forward="return self.second(F.dropout(self.first(x).relu(), p=0.5, training=self.training))")
    yield script(
        init="self.drop = nn.Dropout(0.5)", forward="return self.second(self.drop(torch.relu(self.first(x))))"
    )
    yield script()
