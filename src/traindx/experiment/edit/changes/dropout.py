"""Dropout: its share set, or put behind the hidden activations of a model that has none."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import value_of
from traindx.experiment.edit.changes.activations import hidden_activations
from traindx.experiment.edit.changes.modes import switch_modes
from traindx.experiment.edit.job import Job, call_of, once
from traindx.experiment.edit.keras import hidden, layer_text, uses_keras
from traindx.experiment.edit.layers import add_layer
from traindx.experiment.edit.new_number import NewNumber, plain
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.value_origin import change
from traindx.source.execution import CallEvent
from traindx.source.flow import activation_spot
from traindx.source.values import Made, number

_SHARE = re.compile(r"(^|_)p?drop(out)?(_|$)|pdrop$")
_OF_MODELS = ("torch.nn.", "transformers.", "torchvision.models.", "timm.")


def _dropouts(job: Job) -> list[CallEvent]:
    return once(job.calls(lambda call: call.short.lower().startswith(("dropout", "alphadropout"))))


def set_dropout(job: Job, values: Mapping[str, Scalar]) -> str:
    value = value_of(values, "value")
    events = _dropouts(job)
    if not events:
        return _in_configuration(job, NewNumber(value=value))
    if uses_keras(job):
        return sentence(change(job, e.value, "rate", 0, NewNumber(value=value), r"drop|rate") for e in events)
    # The probability is the second argument of the functions, the first of the layers.
    return sentence(
        change(job, e.value, "p", int(e.value.short.islower()), NewNumber(value=value), r"drop", 0.5)
        for e in events
    )


def _in_configuration(job: Job, new_number: NewNumber) -> str:
    """Shares of dropout that layers and configurations of models take by name."""
    descriptions = []
    for event in once(e for e in job.training.trace.calls if e.value.name.startswith(_OF_MODELS)):
        for name, argument in event.value.keywords.items():
            if _SHARE.search(name) and number(argument) is not None:
                descriptions.append(change(job, event.value, name, -1, new_number, r"drop"))
    return sentence(descriptions, "The script has no dropout whose probability could be set.")


def insert_dropout(job: Job, values: Mapping[str, Scalar]) -> str:
    """Dropout behind each hidden activation, and the modes that switch it off in validation."""
    share = plain(value_of(values, "value", 0.2))
    existing = _dropouts(job)
    if existing:
        raise Uncertain(f"The model has dropout already: set its share to {share}.", existing[0].spot)
    if uses_keras(job):
        calls = map(call_of, hidden(job))
        return sentence([add_layer(job, call, layer_text(job, call, f"Dropout({share})")) for call in calls])
    descriptions = [_add_after(job, activation, share) for activation in hidden_activations(job)]
    if not descriptions:
        raise Uncertain("No hidden activation that dropout could follow was found in the script.")
    return sentence(descriptions + switch_modes(job))


def _add_after(job: Job, activation: Made, share: str) -> str:
    spot = activation_spot(activation)
    words = f"Put dropout of {share} after this activation."
    if spot is None or not isinstance(spot.node, ast.Call):
        raise Uncertain(words, spot)
    node = spot.node
    if activation.kind == "apply":
        return add_layer(job, node, f"{job.spelled(node, 'torch.nn')}.Dropout({share})")
    if not _in_module(job, node):
        raise Uncertain(words, spot)
    job.draft.wrap(node, f"{job.spelled(node, 'torch.nn.functional.dropout')}(", f", {share}, self.training)")
    return f"dropout {share} in line {spot.line}"


def _in_module(job: Job, node: ast.AST) -> bool:
    """Whether `self` is the model there."""
    method = job.function_of(node)
    if not isinstance(method, ast.FunctionDef | ast.Lambda) or not method.args.args:
        return False
    return isinstance(job.parent(method), ast.ClassDef) and method.args.args[0].arg == "self"
