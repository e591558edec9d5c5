"""The output of a Keras model and its loss, made to fit each other."""

from __future__ import annotations

import ast

from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.nodes import written
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.source.flow import activation_spot
from traindx.source.keras import Compiled, compiled
from traindx.source.roles import LossCall, operation, unshaped
from traindx.source.values import Made

_REGRESSION = frozenset("mse mae huber log_cosh mean_squared_logarithmic_error".split())
_BOUNDED = ("softmax", "sigmoid")


def fit_to_loss(job: Job) -> str:
    """One argument: `from_logits` of the loss, or the activation of the last layer."""
    descriptions = [_of_compiled(job, one) for one in compiled(job.training.trace)]
    descriptions += [_of_loss(job, one) for one in job.training.losses_elsewhere if not one.event.grad_off]
    return sentence(
        filter(None, descriptions), "No output that does not fit its loss was found in the script."
    )


def _of_compiled(job: Job, one: Compiled) -> str:
    if one.from_logits and one.activation in _BOUNDED:
        loss = one.event.value.argument(1, "loss")
        return _from_logits(job, loss, "False") if isinstance(loss, Made) else ""
    raw = one.activation in ("linear", "relu", "tanh") and one.from_logits is False
    if raw and one.last is not None and one.loss.endswith("crossentropy"):
        return set_activation(job, one.last, "sigmoid" if one.loss == "binary_crossentropy" else "softmax")
    return ""


def _of_loss(job: Job, loss: LossCall) -> str:
    """A loss that a loop calls itself: told what it is given, or given what it takes."""
    given = unshaped(loss.given)
    by = operation(given)
    of_keras = loss.setup.name.startswith("keras.losses.")
    if loss.kind in ("cross_entropy", "binary_cross_entropy_with_logits") and by in _BOUNDED:
        if of_keras:
            return _from_logits(job, loss.setup, "False")
        layer = given.receiver if isinstance(given, Made) and given.kind == "apply" else None
        return set_activation(job, layer, "linear") if isinstance(layer, Made) else ""
    if of_keras and loss.kind in ("nll_of_probabilities", "binary_cross_entropy") and by == "Linear":
        return _from_logits(job, loss.setup, "True")
    return ""


def _from_logits(job: Job, loss: Made, value: str) -> str:
    call = call_of(loss)
    job.draft.keyword(call, "from_logits", value)
    return f"from_logits={value} in line {call.lineno}"


def set_activation(job: Job, layer: Made, name: str) -> str:
    """The activation of a layer, which may be given as its second argument."""
    call = call_of(layer)
    given = written(call, "activation", 0 if layer.short == "Activation" else 1)
    if layer.short not in ("Dense", "Activation") or (given is None and layer.short == "Activation"):
        raise Uncertain(f"Give the output the activation {name}.", activation_spot(layer))
    if given is not None and not isinstance(given, ast.keyword):
        job.draft.replace(given, f'"{name}"')
    else:
        job.draft.keyword(call, "activation", f'"{name}"')
    return f"activation={name} in line {call.lineno}"


def fit_to_targets(job: Job) -> str:
    """No bound on the outputs of a regression; sigmoid instead of softmax over a single unit."""
    descriptions = []
    for one in compiled(job.training.trace):
        if one.last is None:
            continue
        if one.units == 1 and one.activation == "softmax":
            descriptions.append(set_activation(job, one.last, "sigmoid"))
        elif one.loss in _REGRESSION and one.activation in ("sigmoid", "tanh", "softmax", "relu"):
            descriptions.append(set_activation(job, one.last, "linear"))
    return sentence(
        descriptions, "No activation of the output that does not fit the targets was found in the script."
    )
