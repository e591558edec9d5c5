"""Experiments on the data of Keras' `fit`, for trainings that cannot be changed while they run."""

from __future__ import annotations

import ast

from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.keras import batch_size_text, fits, uses_keras
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.result import Uncertain, sentence

_PLAIN = (ast.Name, ast.Attribute, ast.Subscript)
_INPUTS, _LABELS = ("x", 0), ("y", 1)


def repeat_batch(job: Job) -> str:
    """The first batch over and over, in the place of as many samples as there are."""
    return _replace_data(job, "{np}.resize({data}[:{batch}], {np}.shape({data}))", _INPUTS, _LABELS)


def zero_inputs(job: Job) -> str:
    return _replace_data(job, "0 * {data}", _INPUTS)


def shuffle_labels(job: Job) -> str:
    return _replace_data(job, "{np}.random.permutation({data})", _LABELS)


def _replace_data(job: Job, new: str, *arguments: tuple[str, int]) -> str:
    """Arrays that every fit is given, replaced by others that are made of them."""
    if not uses_keras(job):
        raise Uncertain("It is a measurement, not a remedy.")
    descriptions = []
    for event in fits(job):
        call = call_of(event.value)
        batch = batch_size_text(job, call)
        for name, position in arguments:
            node = argument_node(call, name, position)
            labelled = argument_node(call, *_LABELS) is not None
            if not isinstance(node, _PLAIN) or not labelled:
                raise Uncertain("The fit of this line is not given its data as arrays.", event.spot)
            np = job.spelled(call, "numpy")
            text = new.format(np=np, data=job.draft.text(node), batch=batch)
            job.draft.replace(node, text)
            descriptions.append(f"{text} in line {call.lineno}")
    return sentence(descriptions)
