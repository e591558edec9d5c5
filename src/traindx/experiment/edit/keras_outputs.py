"""The output of a Keras model and its loss, made to fit each other."""

from __future__ import annotations

import ast

from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.source.flow import activation_spot
from traindx.source.keras import Compiled, compiled
from traindx.source.roles import LossCall, operation, unshaped
from traindx.source.values import Made

_REGRESSION = frozenset("mse mae huber log_cosh mean_squared_logarithmic_error".split())
_BOUNDED = ("softmax", "sigmoid")


def fit_to_loss(job: Job) -> str:
    """One argument: `from_logits` of the loss, or the activation of the last layer."""
    descriptions = [_of_compiled(job, model) for model in compiled(job.training.trace)]
    descriptions += [_of_loss(job, loss) for loss in job.training.losses_elsewhere if not loss.event.grad_off]
    return sentence(
        filter(None, descriptions), "No output that does not fit its loss was found in the script."
    )


def _of_compiled(job: Job, model: Compiled) -> str:
    if model.from_logits and model.activation in _BOUNDED:
        loss = model.event.value.argument(1, "loss")
        return _from_logits(job, loss, "False") if isinstance(loss, Made) else ""
    raw = model.activation in ("linear", "relu", "tanh") and model.from_logits is False
    if raw and model.last is not None and model.loss.endswith("crossentropy"):
        return set_activation(
            job, model.last, "sigmoid" if model.loss == "binary_crossentropy" else "softmax"
        )
    return ""


def _of_loss(job: Job, loss: LossCall) -> str:
    """A loss that a loop calls itself: told what it is given, or given what it takes."""
    output = unshaped(loss.given)
    by = operation(output)
    of_keras = loss.setup.name.startswith("keras.losses.")
    if loss.kind in ("cross_entropy", "binary_cross_entropy_with_logits") and by in _BOUNDED:
        if of_keras:
            return _from_logits(job, loss.setup, "False")
        layer = output.receiver if isinstance(output, Made) and output.kind == "apply" else None
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
    activation_node = argument_node(call, "activation", 0 if layer.short == "Activation" else 1)
    if layer.short not in ("Dense", "Activation") or (
        activation_node is None and layer.short == "Activation"
    ):
        raise Uncertain(f"Give the output the activation {name}.", activation_spot(layer))
    if activation_node is not None and not isinstance(activation_node, ast.keyword):
        job.draft.replace(activation_node, f'"{name}"')
    else:
        job.draft.keyword(call, "activation", f'"{name}"')
    return f"activation={name} in line {call.lineno}"


def fit_to_targets(job: Job) -> str:
    """No bound on the outputs of a regression; sigmoid instead of softmax over a single unit."""
    descriptions = []
    for model in compiled(job.training.trace):
        if model.last is None:
            continue
        if model.units == 1 and model.activation == "softmax":
            descriptions.append(set_activation(job, model.last, "sigmoid"))
        elif model.loss in _REGRESSION and model.activation in ("sigmoid", "tanh", "softmax", "relu"):
            descriptions.append(set_activation(job, model.last, "linear"))
    return sentence(
        descriptions, "No activation of the output that does not fit the targets was found in the script."
    )
