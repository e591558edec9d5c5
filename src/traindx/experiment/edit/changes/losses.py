"""The loss: classes weighted by how rare they are."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.core.facts import facts
from traindx.core.nouns import Scalar
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.keras import fits, uses_keras
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.source.keras import compiled
from traindx.source.roles import LossCall

_CLASSES_MOST = 30


def weight_classes(job: Job, values: Mapping[str, Scalar]) -> str:
    """Weights from the class counts of the recording, written as numbers."""
    if uses_keras(job):
        return _in_keras(job, values.get("power", 1.0))
    counts, power = _counts(job), values.get("power", 1.0)
    losses = [
        x
        for x in job.training.losses
        if x.kind in ("cross_entropy", "nll_loss", "binary_cross_entropy_with_logits")
        and not x.event.grad_off
    ]
    inner = [
        x for x in losses if any(iteration.loop in x.event.loops for iteration in job.iterations())
    ] or losses
    setups = {id(x.setup): x for x in inner}
    if len(setups) != 1:
        raise Uncertain(
            "Weight the classes in the loss by how rare they are: weight=... (one number per class)."
        )
    chosen = next(iter(setups.values()))
    shared = any(x.event.grad_off and x.setup is chosen.setup for x in job.training.losses)
    description = _weighted(job, chosen, counts, power if isinstance(power, int | float) else 1.0)
    return description + (
        " The validation loss is weighted, too: compare by accuracy per class." if shared else ""
    )


def _in_keras(job: Job, power: Scalar) -> str:
    """`class_weight=` of every fit: one over how often each label of its own occurs, 1 on average."""
    losses = [model.loss for model in compiled(job.training.trace)]
    if not any(loss.endswith("crossentropy") for loss in losses):
        raise Uncertain("Weight the classes in the loss by how rare they are.")
    descriptions = []
    for event in fits(job):
        call = call_of(event.value)
        labels = argument_node(call, "y", 1)
        if not isinstance(labels, ast.Name) or "class_weight" in event.value.keywords or event.value.open:
            raise Uncertain("Give this fit class_weight: one weight for each class.", event.spot)
        np = job.spelled(call, "numpy")
        name = job.draft.text(labels)
        one_hot = [
            model for model in compiled(job.training.trace) if model.loss == "categorical_crossentropy"
        ]
        classes = f"{np}.argmax({name}, axis=-1)" if one_hot else f"{np}.ravel({name}).astype(int)"
        counts = job.fresh(call, "counts")
        exponent = "" if power in (1, 1.0) else f" ** {power}"
        weights = f"({counts}.sum() / (len({counts}) * {np}.maximum({counts}, 1))){exponent}"
        job.draft.before(job.statement_of(event.spot.node), f"{counts} = {np}.bincount({classes})")
        job.draft.keyword(call, "class_weight", f"dict(enumerate({weights}))")
        descriptions.append(f"class_weight by how often the classes of {name} occur in line {call.lineno}")
    return sentence(descriptions)


def _counts(job: Job) -> list[int]:
    classes = job.facts.get("classes")
    if not isinstance(classes, dict) or not 2 <= len(classes) <= _CLASSES_MOST:
        raise Uncertain(
            "How often each class occurs was not recorded: weight the classes in the loss by hand."
        )
    try:
        pairs = sorted((int(float(name)), int(count)) for name, count in classes.items())
    except (TypeError, ValueError, OverflowError):
        raise Uncertain("The classes that were recorded are not numbers: weight them by hand.") from None
    if [name for name, _ in pairs] != list(range(len(pairs))) or min(count for _, count in pairs) < 1:
        raise Uncertain("Not every class occurs in the recording: weight the classes in the loss by hand.")
    return [count for _, count in pairs]


def _weighted(job: Job, loss: LossCall, counts: list[int], power: float) -> str:
    call = call_of(loss.setup)
    binary = loss.kind == "binary_cross_entropy_with_logits"
    name = "pos_weight" if binary else "weight"
    if (
        name in loss.setup.keywords
        or loss.setup.open
        or any(keyword.arg is None for keyword in call.keywords)
    ):
        raise Uncertain(f"The loss of this line has a {name} already: check its numbers.", loss.setup.spot)
    width = _width(job)
    if (binary and len(counts) != 2) or (not binary and width not in (None, len(counts))):
        raise Uncertain("Weight the classes in the loss of this line by how rare they are.", loss.setup.spot)
    weights = [counts[0] / counts[1]] if binary else [sum(counts) / (len(counts) * count) for count in counts]
    text = ", ".join(f"{weight**power:.4g}" for weight in weights)
    tensor = f"{job.spelled(call, 'torch')}.tensor([{text}]{_device(job.file(call).text)})"
    job.draft.keyword(call, name, tensor)
    counts_text = ", ".join(map(str, counts[:6]))
    return f"{name} by how often the {len(counts)} classes occur ({counts_text}) in line {call.lineno}."


def _width(job: Job) -> int | None:
    for model in facts(job.facts.get("models")):
        width = model.get("output_width")
        if isinstance(width, int):
            return width
    return None


def _device(text: str) -> str:
    """The device of the weights, when the script moves tensors."""
    if ".cuda(" in text or ".to(" in text:
        if "device =" not in text and "device=" not in text:
            raise Uncertain("Weight the classes in the loss, on the device the model is on.")
        return ", device=device"
    return ""
