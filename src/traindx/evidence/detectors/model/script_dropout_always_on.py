"""Dropout that eval() cannot switch off: `F.dropout` without `training`, or made in forward().

Seen when a model's code calls `F.dropout` with its default, which is training, or makes a new
`nn.Dropout` at every call: it drops in validation too, which looks like worse and noisy validation
values.

Silent outside of models, when `training=` is given at all, and for a share of 0. Known mistake: dropout
meant to stay on for a Monte Carlo estimate; where a name says so, nothing is reported.
"""

import ast
import re

from traindx.evidence.detectors._script import (
    Detector,
    Edit,
    Finding,
    Places,
    Script,
    Scripts,
    Severity,
    Training,
    script,
)
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.execution import CallEvent
from traindx.source.values import Made, number

DETECTOR = Detector(title="dropout always on", family="script_dropout")
_CALLS = tuple(f"torch.nn.functional.{name}" for name in ("dropout", "dropout1d", "dropout2d", "dropout3d"))
_LAYERS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
_MEANT = re.compile(r"(^|_)mc(_|$)|monte|bayes|mcdropout|stochastic|corrupt|noise|augment", re.IGNORECASE)


def detect(training: Training) -> Places:
    findings: dict[int, Finding] = {}
    for event in training.trace.events:
        if event.value.kind != "call" or number(event.value.argument(_place(event.value), "p")) == 0:
            continue
        if _untold(event) or _made_anew(event):
            findings.setdefault(id(event.spot.node), _finding(training, event))
    return [*findings.values()]


def _place(call: Made) -> int:
    return 1 if call.name in _CALLS else 0


def _untold(event: CallEvent) -> bool:
    """The function, in a method of a module, without a word on training."""
    call = event.value
    if call.name not in _CALLS or call.open or call.argument(2, "training") is not None:
        return False
    return _in_model(event)


def _made_anew(event: CallEvent) -> bool:
    """A layer made inside forward()."""
    call = event.value
    if not call.name.startswith("torch.nn.") or call.short not in _LAYERS or not event.functions:
        return False
    return getattr(event.functions[-1], "name", "") == "forward" and _in_model(event)


def _in_model(event: CallEvent) -> bool:
    """Whether the call stands in a method with `self` of a class, and no name says that it is meant."""
    node: ast.AST | None = event.functions[-1] if event.functions else None
    names = [getattr(node, "name", "")]
    if not isinstance(node, ast.FunctionDef) or not node.args.args or node.args.args[0].arg != "self":
        return False
    holder = event.spot.source.parents.get(node)
    names.append(getattr(holder, "name", ""))
    return isinstance(holder, ast.ClassDef) and not any(_MEANT.search(name) for name in names)


def _finding(training: Training, event: CallEvent) -> Finding:
    made, evaluated = event.value, bool(training.trace.methods("eval"))
    if made.name in _CALLS:
        why = "drops in eval mode too: without `training=self.training` it is always on"
    else:
        why = "is a new layer at each call, which eval() never reaches: it always drops"
    text = f"{where(event.spot)}: {code(event.spot)} {why}."
    severity: Severity = "high" if evaluated else "medium"
    return Finding(text, "silent_defect", severity, places=(place(event.spot),), edits=_edit(event))


def _edit(event: CallEvent) -> tuple[Edit, ...]:
    written = segment(event.spot)
    if event.value.name not in _CALLS or not written.endswith(")") or written.endswith(",)"):
        return ()
    return replaced(event.spot, f"{written[:-1]}, training=self.training)", "safe")


def _forward(hidden: str, end: str = "model.eval()") -> Script:
    return script(forward=f"return self.second({hidden})", end=end)


def fires() -> Scripts:
    yield _forward("F.dropout(self.first(x).relu(), 0.5)")
    yield _forward("F.dropout(self.first(x).relu(), p=0.2)")
    yield _forward("nn.Dropout(0.5)(self.first(x).relu())")


def silent() -> Scripts:
    yield _forward("F.dropout(self.first(x).relu(), 0.5, self.training)")
    yield _forward("F.dropout(self.first(x).relu(), 0.5, training=self.training)")
    yield _forward("F.dropout(self.first(x).relu(), 0.5, training=True)")
    yield script(init="self.drop = nn.Dropout(0.5)", forward="return self.second(self.drop(self.first(x)))")
    yield script(
        body="optimizer.zero_grad()\ncriterion(model(F.dropout(x, 0.1)), y).backward()\noptimizer.step()"
    )
