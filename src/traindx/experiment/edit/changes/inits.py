"""First weights: what the script sets by hand is set by a rule instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import value_of
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.keras import hidden, keras_name, uses_keras
from traindx.experiment.edit.new_number import plain
from traindx.experiment.edit.nodes import receiver
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.source.execution import CallEvent
from traindx.source.optimizer_sources import sources
from traindx.source.values import Const, Made, number

_RULES = {"he": "kaiming_normal_", "xavier": "xavier_uniform_", "orthogonal": "orthogonal_"}
_KERAS_RULES = {"he": "he_normal", "xavier": "glorot_uniform", "orthogonal": "orthogonal"}
_SET = {"constant_", "normal_", "uniform_", "ones_", "zeros_", "trunc_normal_"}
_FAR = 0.5
_IN_PLACE = frozenset("fill_ normal_ uniform_ mul_".split())
_TWO_DIMENSIONS = re.compile(
    r"\b(Linear|Conv[123]d|Embedding|ConvTranspose[123]d)\b|\.dim\(\)|\.ndim\b|len\(\w+\.shape\)"
)


def reinitialise(job: Job, values: Mapping[str, Scalar]) -> str:
    kind = str(values.get("kind", "he"))
    if kind not in _RULES:
        raise ValueError(f"no such initialisation: {kind!r}")
    if uses_keras(job):
        return _in_keras(job, "kernel_initializer", f'"{_KERAS_RULES[kind]}"', "glorot_uniform")
    for event in job.training.trace.events:
        if event.value.name == f"torch.nn.init.{_RULES[kind]}":
            raise Uncertain(f"Line {event.spot.line} uses {_RULES[kind]} already.", event.spot)
    return sentence(
        [_by_rule(job, event, kind) for event in _by_hand(job)] or [_loop(job, _RULES[kind], "weight")]
    )


def _in_keras(job: Job, name: str, value: str, default: str = "") -> str:
    """An initialiser of every hidden layer; those that have it already are left alone."""
    descriptions = []
    for layer in hidden(job):
        call = call_of(layer)
        argument = layer.argument(-1, name)
        old_value = (
            str(argument.value) if isinstance(argument, Const) else default if argument is None else ""
        )
        if old_value != value.strip('"'):
            text = value if value[0] == '"' else keras_name(job, call, value)
            job.draft.keyword(call, name, text)
            descriptions.append(f"{name}={value} in line {call.lineno}")
    return sentence(descriptions, f"Every hidden layer has {name}={value} already.")


def level_biases(job: Job) -> str:
    """Biases that start far below zero, so that units begin dead, start at zero."""
    low = [e for e in _by_hand(job) if "bias" in e.spot.text and _value(e) < -_FAR]
    if not low:
        raise Uncertain("No bias that starts far below zero was found in the script.")
    return sentence(_by_rule(job, event, "he") for event in low)


def set_bias(job: Job, values: Mapping[str, Scalar]) -> str:
    """Biases start at a small positive value: those that the script sets itself, else all."""
    value = plain(value_of(values, "value", 0.01))
    if uses_keras(job):
        return _in_keras(job, "bias_initializer", f"keras.initializers.Constant({value})")
    by_hand = [event for event in _by_hand(job) if "bias" in event.spot.text]
    if not by_hand:
        return _loop(job, "constant_", "bias", f", {value}") + "."
    return sentence([_bias(job, event, value) for event in by_hand])


def _bias(job: Job, event: CallEvent, value: str) -> str:
    node = event.spot.node
    target = receiver(node) if event.value.kind == "method" else next(iter(getattr(node, "args", ())), None)
    if target is None or not isinstance(job.parent(node), ast.Expr):
        raise Uncertain(f"Set the bias to {value} here.", event.spot)
    name = job.spelled(node, "torch.nn.init.constant_")
    job.draft.replace(node, f"{name}({job.draft.text(target)}, {value})")
    return f"the bias starts at {value} in line {event.spot.line}"


def _value(event: CallEvent) -> float:
    return number(event.value.argument(0 if event.value.kind == "method" else 1, "val", "value")) or 0.0


def _by_hand(job: Job) -> list[CallEvent]:
    """Where the script fills weights or biases with numbers of its own choice, before it trains."""
    loops = [iteration.loop for iteration in job.iterations()]
    fills: dict[int, CallEvent] = {}
    for event in job.training.trace.events:
        inside = any(loop in event.loops for loop in loops)
        is_usual = event.value.short in ("zeros_", "zero_", "ones_") and "weight" not in event.spot.text
        if not inside and not is_usual and _fills(event.value, event.spot.text):
            fills.setdefault(id(event.spot.node), event)
    return list(fills.values())


def _fills(fill: Made, text: str) -> bool:
    if fill.name.startswith("torch.nn.init.") and fill.short in _SET:
        small = fill.short == "constant_" and abs(number(fill.argument(1, "val")) or 0.0) <= 0.1
        return not (small and "bias" in text)
    mild = fill.name == "mul_" and (number(fill.argument(0, "other")) or 0.0) < 2
    in_place = fill.kind == "method" and fill.name in _IN_PLACE and not mild
    return in_place and bool(re.search(r"weight|bias|\bp\b|param", text))


def _by_rule(job: Job, event: CallEvent, kind: str) -> str:
    node = event.spot.node
    statement = job.statement_of(event.spot.node)
    if not isinstance(statement, ast.Expr) or not isinstance(node, ast.Call) or statement.value is not node:
        raise Uncertain("Remove what sets the weights here.", event.spot)
    target = receiver(node) if event.value.kind == "method" else next(iter(node.args), None)
    text = job.draft.text(target) if target is not None else ""
    is_init_call = event.value.name.startswith("torch.nn.init.")
    if "bias" in text:
        if not is_init_call:
            job.draft.remove(statement)
            return f"line {event.spot.line}, which sets the bias, is removed"
        name = job.spelled(node, "torch.nn.init.zeros_")
        job.draft.replace(node, f"{name}({text})")
        return f"the bias starts at zero in line {event.spot.line}"
    if is_init_call and target is not None and _flat_guarded(job, node, text):
        name = job.spelled(node, f"torch.nn.init.{_RULES[kind]}")
        job.draft.replace(node, f"{name}({text})")
        return f"{event.value.short} -> {_RULES[kind]} in line {event.spot.line}"
    job.draft.remove(statement)
    return f"line {event.spot.line}, which sets the first weights, is removed: PyTorch's defaults are used"


def _flat_guarded(job: Job, node: ast.AST, text: str) -> bool:
    """Whether the tensor surely has two dimensions: a rule by fan-in needs them."""
    for around in job.ancestors(node):
        if isinstance(around, ast.If) and _TWO_DIMENSIONS.search(ast.unparse(around.test)):
            return any(node in ast.walk(statement) for statement in around.body)
    bound = text.split(".")[0]
    for around in job.ancestors(node):
        if isinstance(around, ast.For) and isinstance(around.target, ast.Name) and around.target.id == bound:
            return bool(re.search(r"Linear|Conv", ast.unparse(around.iter)))
    return False


def _loop(job: Job, rule: str, tensor: str, value: str = "") -> str:
    """A rule for every layer of the model, after the line that makes it."""
    modules = [m for optimizer in job.optimizers() for m in sources(optimizer) if m.spot is not None]
    spot = modules[0].spot if modules else None
    name = job.bound_name(spot.node) if spot is not None else None
    if (
        spot is None
        or name is None
        or any("load_state_dict" in s.text or "from_pretrained" in s.text for s in job.script.sources)
    ):
        raise Uncertain(f"Set the first {tensor} of the layers by {rule}.", spot)
    model = job.draft.text(name)
    nn = job.spelled(spot.node, "torch.nn")
    present = f" and module.{tensor} is not None" if tensor == "bias" else ""
    lines = (
        f"for module in {model}.modules():",
        f"    if isinstance(module, ({nn}.Linear, {nn}.Conv1d, {nn}.Conv2d)){present}:",
        f"        {nn}.init.{rule}(module.{tensor}{value})",
    )
    job.draft.after(job.statement_of(spot.node), *lines)
    return f"{rule} for the {tensor} of all layers after line {spot.line}"
