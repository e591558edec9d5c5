"""The first NaN or Inf as the recorder found it, and what made it: data, arithmetic, growth, range."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from traindx.core.facts import Fact, number
from traindx.core.nouns import Event, Finding, Place, Severity
from traindx.evidence.case import Case, Curve
from traindx.evidence.detectors._number_text import text
from traindx.source.domains import CALLED, word_of

Kind = Literal["input", "constant", "empty", "arithmetic", "half", "init", "growth", "unknown"]
_ARITHMETIC = re.compile(
    r"\b(log\w*|sqrt|division|exp\w*|power|pow|acosh?|asin|atanh|erfinv|logit|std|var|norm|0 \* inf|lgamma|"
    r"digamma|softmax|logsumexp|sinh|cosh|ctc|negative log likelihood|custom function)\b"
)
_OVERFLOW = re.compile(r"(?:float\d+|bfloat16|number) overflow in\b")
_BACKWARD_OVERFLOW = "overflow in the backward pass"
_HALF = re.compile(r"b?float16 overflow")
_EMPTY = re.compile(r"mean loss over no targets|mean of nothing")
_HUGE = 1e6
_NEAR_RANGE = 1e4


@dataclass(frozen=True)
class RecordedOrigin:
    """What made the first bad value. `grown` tells in words what had grown before it, if anything had."""

    kind: Kind
    event: Event
    operation: str
    grown: str
    place: Place | None
    burst: str = ""
    severity: Severity = "critical"

    @property
    def step(self) -> float:
        return self.event.step or 0.0

    @property
    def text(self) -> str:
        """The place and its numbers, as the recorder told them."""
        batch = number(self.event.data, "batch")
        moment = f"at batch {batch:g}" if batch is not None else f"after step {text(self.step)}"
        return f"The first bad value came {moment}: {self.event.text}"

    def finding(self, sentence: str, strength: float = 1.0) -> Finding:
        """The trouble it made, in words that begin with what was said of it."""
        places = (self.place,) if self.place is not None else ()
        return Finding(
            sentence, "nonfinite", self.severity, self.step, series="loss", strength=strength, places=places
        )


def origin(case: Case) -> RecordedOrigin | None:
    """What made the first NaN; None when the recording does not hold one."""
    recorded_events = case.inside.events("nonfinite")
    if not recorded_events:
        return None
    event = recorded_events[0]
    operation = str(event.data.get("operation") or "")
    grown = _growth(case, event.step or 0.0)
    if not _overflows(event, operation) and _weights_calm(case, event.step or 0.0):
        # An exp at its edge makes the loss leap by itself; steps that overshoot throw the weights out.
        grown = ""
    place, burst = _place(case, event, operation), _burst(case, event.step or 0.0)
    kind, severity = _kind(event, operation, grown), _severity(case, event.step or 0.0)
    return RecordedOrigin(kind, event, operation, grown, place, burst, severity)


def _severity(case: Case, step: float, *, lost: float = 0.3) -> Severity:
    """The run is lost when bad values stay; a single one that was skipped or healed is worth acting on."""
    loss = case.curve("loss")
    after = loss.finite[loss.series.steps > step] if loss is not None else np.zeros(0, dtype=bool)
    return "medium" if after.size >= 5 and 1 - float(after.mean()) < lost else "critical"


def _kind(event: Event, operation: str, grown: str) -> Kind:
    source = event.data.get("where")
    if source == "input":
        return _outside(event)
    if _EMPTY.search(operation):
        return "empty"
    if _HALF.search(operation):
        return "half"
    first = (event.step or 0.0) == 0
    if source == "weights":
        return "init" if first else "growth" if grown else "unknown"
    if _overflows(event, operation):
        if first and not _of_large_input(event):
            return "init"
        return "growth" if grown else "input" if _of_large_input(event) else "growth"
    # Of a finite loss and finite weights, out of calm: an operation whose slope is infinite or 0 * inf.
    if _ARITHMETIC.search(operation) or (source == "backward" and not operation and not grown):
        return "arithmetic"
    return "growth" if grown else "unknown"


def _overflows(event: Event, operation: str) -> bool:
    """Whether a plain product or sum left the range of numbers, none that is at its edge by itself."""
    return _OVERFLOW.match(operation) is not None or event.text.startswith(_BACKWARD_OVERFLOW)


def _outside(event: Event) -> Kind:
    """Something without gradient was bad: the batch itself, or what the script computed from it."""
    bad, recorded = number(event.data, "batch_nonfinite"), event.data.get("numbers")
    numbers: Fact = recorded if isinstance(recorded, dict) else {}
    half = not bad and numbers.get("dtype") == "float16"
    # Finite data become Inf where autocast makes them fp16; what is left of them then is near its range.
    if half and max(abs(number(numbers, key) or 0.0) for key in ("min", "max")) >= _NEAR_RANGE:
        return "half"
    return "constant" if bad == 0 else "input"


def _of_large_input(event: Event) -> bool:
    inputs = event.data.get("input")
    ends = [number(inputs, key) or 0.0 for key in ("min", "max")] if isinstance(inputs, dict) else [0.0]
    return max(map(abs, ends)) > _HUGE


def _growth(case: Case, step: float, *, loss_times: float = 10.0, norm_times: float = 100.0) -> str:
    """What of loss and gradients left its first level before the bad value, in words."""
    growths = []
    loss, norm = case.curve("loss"), case.grad_norm
    for name, curve, times in (("loss", loss, loss_times), ("gradient norm", norm, norm_times)):
        if curve is None:
            continue
        before = np.abs(curve.y[curve.x <= step])
        if before.size < 2:
            continue
        start = float(np.median(before[: max(1, min(3, before.size - 1))]))
        start = min(start, float(before[0])) if before.size <= 4 else start
        peak = float(before[-3:].max())
        if start > 0 and peak >= times * start:
            growths.append(f"the {name} had grown from {text(start)} to {text(peak)}")
    return " and ".join(growths)


def _burst(case: Case, step: float) -> str:
    """What leapt out of a long calm right before the bad value, in words.

    The gradient norm; of a recurrent model without clipping the loss too: steps at which the norm was not
    written down are left to it, and gradients through time make it leap.
    """
    leap = _leap(case.grad_norm, step, calm=8)
    if leap:
        return f"the gradient norm {leap}"
    recurrent = any(model.get("recurrent") is True for model in case.inside.models)
    if not recurrent or case.number("clip") is not None or case.curve("grad_norm_clipped") is not None:
        return ""
    leap = _leap(case.loss, step, calm=30)
    return f"the loss of this recurrent model {leap}" if leap else ""


def _leap(curve: Curve | None, step: float, *, calm: int, times: float = 50.0, last: int = 3) -> str:
    before = curve.y[curve.x <= step] if curve is not None else np.zeros(0)
    if before.size < calm + last:
        return ""
    usual, peak = float(np.median(before[:-last])), float(before[-last:].max())
    if not usual > 0 or peak < times * usual or float(np.quantile(before[:-last], 0.95)) > times / 5 * usual:
        return ""
    return f"leapt from {text(usual)} to {text(peak)} within {last} steps"


def _weights_calm(case: Case, step: float, *, times: float = 2.0) -> bool:
    """Whether no layer's weights had grown much before the bad value; False when that was not looked at."""
    measured = False
    for curve in case.inside.layers("weight_norm").values():
        before = curve.y[curve.x <= step]
        measured |= before.size >= 2
        if before.size >= 2 and before[0] > 0 and before[-1] >= times * before[0]:
            return False
    return measured


def _place(case: Case, event: Event, operation: str) -> Place | None:
    layer = next(
        (str(event.data[key]) for key in ("layer", "layer_before", "layer_after") if event.data.get(key)), ""
    )
    line = _line(case, word_of(operation))
    if line is not None:
        return Place(line.file, line.line, layer)
    return Place(layer=layer) if layer else None


def _line(case: Case, word: str) -> Place | None:
    """The only line of the script that calls the operation."""
    names = CALLED.get(word)
    if case.script is None or names is None:
        return None
    lines = {
        (source.path, node.lineno)
        for source in case.script.sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call | ast.BinOp) and _calls(node, names, word)
    }
    return Place(*lines.pop()) if len(lines) == 1 else None


def _calls(node: ast.Call | ast.BinOp, names: tuple[str, ...], word: str) -> bool:
    if isinstance(node, ast.BinOp):
        if word == "division":
            return isinstance(node.op, ast.Div) and not isinstance(node.right, ast.Constant)
        half = isinstance(node.right, ast.Constant) and node.right.value == 0.5
        return isinstance(node.op, ast.Pow) and (word == "power" or (word == "sqrt" and half))
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr not in names:
        return False
    owner: Any = function.value
    return not (isinstance(owner, ast.Name) and owner.id in ("math", "np", "numpy"))
