"""Gradients from a `tf.GradientTape`; losses of Keras, TensorFlow and optax that a script calls itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from traindx.source.execution import CallEvent, Trace
from traindx.source.keras import loss_name
from traindx.source.roles import LossCall
from traindx.source.values import ListValue, Made, Value, options

TAPE = "tensorflow.GradientTape"
_VARIABLES = frozenset("trainable_variables trainable_weights variables weights".split())
_APPLIES = ("apply_gradients", "apply", "minimize", "assign_sub", "assign_add", "assign")
# Of a loss of Keras: what it is called where it is given logits, and where it is given probabilities.
_KINDS = {
    "sparse_categorical_crossentropy": ("cross_entropy", "nll_of_probabilities"),
    "categorical_crossentropy": ("cross_entropy", "nll_of_probabilities"),
    "binary_crossentropy": ("binary_cross_entropy_with_logits", "binary_cross_entropy"),
    "mse": ("mse_loss", "mse_loss"),
    "mae": ("l1_loss", "l1_loss"),
    "huber": ("huber_loss", "huber_loss"),
}
# Functions of logits: the names of logits and targets, and their places.
_OF_LOGITS = {
    "tensorflow.nn.sigmoid_cross_entropy_with_logits": ("binary_cross_entropy_with_logits", 1, 0),
    "tensorflow.nn.softmax_cross_entropy_with_logits": ("cross_entropy", 1, 0),
    "tensorflow.nn.sparse_softmax_cross_entropy_with_logits": ("cross_entropy", 1, 0),
    "optax.softmax_cross_entropy": ("cross_entropy", 0, 1),
    "optax.softmax_cross_entropy_with_integer_labels": ("cross_entropy", 0, 1),
    "optax.sigmoid_binary_cross_entropy": ("binary_cross_entropy_with_logits", 0, 1),
}


@dataclass(frozen=True, eq=False)
class TapeStep:
    """`tape.gradient(loss, variables)`; `owners` are the models of the variables, None where not known."""

    event: CallEvent
    loss: Value
    owners: tuple[Value, ...] | None


def tape_steps(trace: Trace) -> list[TapeStep]:
    """Every gradient that the script takes from a tape."""
    return [
        TapeStep(event, loss, _owners(variables))
        for event in trace.methods("gradient")
        if any(isinstance(option, Made) and option.name == TAPE for option in options(event.value.receiver))
        and (loss := event.value.argument(0, "target")) is not None
        and (variables := event.value.argument(1, "sources")) is not None
    ]


def applied(trace: Trace) -> list[CallEvent]:
    """Where gradients, or anything computed by hand, change variables."""
    return trace.methods(*_APPLIES)


def _owners(variables: Value) -> tuple[Value, ...] | None:
    if isinstance(variables, Made) and variables.kind == "attribute" and variables.name in _VARIABLES:
        return (variables.receiver,) if variables.receiver is not None else None
    parts: list[Value] = []
    if isinstance(variables, Made) and variables.kind == "operator" and variables.name == "Add":
        parts = variables.args
    elif isinstance(variables, ListValue) and not variables.open:
        parts = variables.items
    owners = [_owners(part) for part in parts]
    known_owners = [owner for owner in owners if owner is not None]
    return (
        tuple(owner for group in known_owners for owner in group)
        if parts and len(known_owners) == len(owners)
        else None
    )


def loss_calls(trace: Trace) -> Iterator[LossCall]:
    """Losses of Keras, TensorFlow and optax that the script calls itself, named as those of PyTorch."""
    for event in trace.events:
        call = event.value
        if call.kind == "call" and call.name in _OF_LOGITS:
            kind, logits, labels = _OF_LOGITS[call.name]
            output, target = call.argument(logits, "logits"), call.argument(labels, "labels")
        else:
            kind, output, target = _of_keras(call)
        if kind and output is not None:
            setup = call.receiver if call.kind == "apply" and isinstance(call.receiver, Made) else call
            yield LossCall(kind, event, output, target, setup)


def _of_keras(call: Made) -> tuple[str, Value | None, Value | None]:
    setup = call.receiver if call.kind == "apply" else call
    if not isinstance(setup, Made) or setup.kind != "call":
        return "", None, None
    name, logits = loss_name(setup)
    made_here = call.kind == "call" and call.short[:1].isupper()
    if name not in _KINDS or logits is None or made_here:
        return "", None, None
    kind = _KINDS[name][0 if logits else 1]
    return kind, call.argument(1, "y_pred"), call.argument(0, "y_true")
