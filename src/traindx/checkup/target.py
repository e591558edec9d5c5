"""What an argument of `traindx check` is, and which module measures it.

Each row of `KINDS` names a module with a function `run(request) -> Run`: the run has no curves of a training;
its `facts` hold what was measured, and `facts["checked"]` (see `checked`) says of what. From there on it goes
the way of every run: case, detectors, diagnosis, report.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from traindx.core.nouns import Note, Run, Unreadable

CHECKPOINTS = (".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".keras", ".h5", ".hdf5", ".onnx", ".pt2")
_TORCH_SHARDS, _HF_INDEX = ".metadata", ".index.json"


@dataclass(frozen=True)
class CheckRequest:
    """What is to be checked: paths or `file.py:name`, with data and a loss where they are given.

    In Python `data` and `loss` may be a loader and a function. `model` makes the model of a checkpoint.
    """

    targets: tuple[str, ...]
    data: Any = None
    model: str = ""
    loss: Any = None
    trust_code: bool = False
    curvature: bool = False
    overfit: bool = False
    lr: float | None = None
    target_column: str = ""


@dataclass(frozen=True)
class TargetKind:
    """`claims` says whether an argument is of this kind; `module` measures it."""

    id: str
    words: str
    claims: Callable[[str], bool]
    module: str


def is_object(text: str) -> bool:
    """`train.py:make_model`."""
    path, colon, name = text.rpartition(":")
    return bool(colon) and path.endswith(".py") and name.isidentifier()


def is_checkpoint(path: str) -> bool:
    """A file of weights, or a folder that holds some."""
    if os.path.isdir(path):
        return any(
            name == _TORCH_SHARDS or name.endswith((*CHECKPOINTS, _HF_INDEX)) for name in os.listdir(path)
        )
    return path.lower().endswith((*CHECKPOINTS, _HF_INDEX))


def is_data(path: str) -> bool:
    """A table, an array, or a folder of data."""
    from traindx.checkup.data.dataset import is_data

    return not is_object(path) and is_data(path)


def is_recording(path: str) -> bool:
    """The folder of a recorded training."""
    return os.path.isdir(path) and any(
        name.startswith("rank-") and name.endswith(".jsonl") for name in os.listdir(path)
    )


# Asked in this order; the first that claims an argument measures it.
KINDS: tuple[TargetKind, ...] = (
    TargetKind("recording", "a recording", is_recording, "traindx.checkup.data.recorded"),
    TargetKind("weights", "a checkpoint", is_checkpoint, "traindx.checkup.weights.checkpoint"),
    TargetKind("data", "data", is_data, "traindx.checkup.data.dataset"),
)


def kind_of_target(text: str) -> TargetKind:
    """What an argument is; raises Unreadable with one line where it is nothing that can be checked."""
    if not is_object(text) and not os.path.exists(text):
        raise Unreadable(f"{text}: there is no such file or folder")
    for kind in KINDS:
        if kind.claims(text):
            return kind
    if is_object(text):
        raise Unreadable(f"{text}: a model in a script is checked together with --data and --loss")
    kinds_text = ", ".join(kind.words for kind in KINDS)
    raise Unreadable(f"{text}: it is none of what can be checked: {kinds_text}")


def run_of(request: CheckRequest) -> Run:
    """What was measured of all that is asked for; raises Unreadable with one line."""
    if request.data is not None:
        model_run: Run = import_module("traindx.checkup.model.check").run(request)
        return model_run
    kinds = {text: kind_of_target(text) for text in request.targets}
    first, *other_targets = kinds
    for target in other_targets:
        if kinds[target] is not kinds[first]:
            kinds_text = f"{first} is {kinds[first].words} and {target} is {kinds[target].words}"
            raise Unreadable(f"{kinds_text}: check one kind at a time")
    run: Run = import_module(kinds[first].module).run(request)
    return run


def checked(
    request: CheckRequest,
    kind: str,
    facts: Mapping[str, Any],
    *,
    areas: Sequence[str],
    subject: str,
    summary: str,
    more: str = "",
    chosen: str = "",
    notes: Sequence[Note] = (),
    files: Sequence[str] = (),
) -> Run:
    """A run without curves of what was measured.

    Only the detectors of these `areas` (folders) are asked. `subject` completes "nothing wrong in what can be
    seen of ..."; `summary` is its size in words; `more` is what to give traindx in order to see more;
    `chosen` says what of the data was taken for what.
    """
    path = request.targets[0] if request.targets else ""
    about = {"kind": kind, "subject": subject, "summary": summary, "more": more, "areas": list(areas)}
    about |= {"chosen": chosen} if chosen else {}
    return Run(
        name=" and ".join(os.path.basename(os.path.normpath(target)) for target in request.targets[:2])
        or kind,
        path=path,
        formats=(kind,),
        axis="step",
        series={},
        facts={"checked": about, **facts},
        notes=tuple(notes),
        files=tuple(files),
    )
