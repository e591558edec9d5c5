"""Batches from a file or folder of data: what of it is input, what is target, and how that was chosen."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from traindx.checkup.data.files import read_file
from traindx.checkup.data.images import has_images, image_arrays
from traindx.checkup.data.measuring import prepared
from traindx.checkup.data.part import is_target_array, split_of
from traindx.checkup.model.objects import LabelledBatch
from traindx.core import files
from traindx.core.nouns import Unreadable

_BATCH = 32
_ENDINGS = (".pt", ".pth", ".npz", ".npy", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".arrow")
_BYTES_MOST = 1 << 30
_REAL_LOSSES = ("mse", "mae", "l1", "huber", "bce")


@dataclass(frozen=True)
class Samples:
    """Inputs and targets row by row; `chosen` says in words what was taken for which."""

    inputs: tuple[np.ndarray, ...]
    target: np.ndarray | None
    chosen: str

    @property
    def classes(self) -> bool:
        """Whether the target counts classes."""
        target = self.target
        return target is not None and target.dtype.kind in "iub" and target.ndim == 1


def is_sample_file(path: object) -> bool:
    return isinstance(path, str) and (os.path.isdir(path) or path.lower().endswith(_ENDINGS))


def samples_of(path: str, target: str = "", *, images_last: bool = False) -> Samples:
    """What a file holds as inputs and targets; raises Unreadable with one line."""
    if not os.path.exists(path):
        raise Unreadable(f"{path}: there is no such file or folder")
    if os.path.isdir(path):
        if not has_images(path):
            raise Unreadable(f"{path}: a folder with --data holds images, one folder for each class")
        samples = _images(path, images_last)
    elif path.lower().endswith((".npz", ".npy", ".pt", ".pth")):
        samples = _of_arrays(path, _torch_arrays(path) if path[-4] != "." else _numpy_arrays(path), target)
    else:
        samples = _table(path, target)
    if not samples.inputs or not len(samples.inputs[0]):
        raise Unreadable(f"{path}: it has no inputs that are numbers")
    return samples


def _numpy_arrays(path: str) -> dict[str, np.ndarray]:
    if os.path.getsize(path) > _BYTES_MOST:
        raise Unreadable(f"{path}: it is larger than is read as a sample; save some of its rows")
    try:
        with files.opened(path) as file:
            loaded = np.load(file, allow_pickle=False)
            return {"": loaded} if isinstance(loaded, np.ndarray) else {n: loaded[n] for n in loaded.files}
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise Unreadable(f"{path}: it cannot be read ({str(error).splitlines()[0][:160]})") from None


def _torch_arrays(path: str) -> dict[str, np.ndarray]:
    """The tensors of a file: named, or in order, the last of which is the target."""
    from traindx.checkup.weights.torch_file import document

    saved = document(path)
    if hasattr(saved, "numpy"):
        saved = {"": saved}
    if isinstance(saved, list | tuple):
        names = ["inputs", *(f"inputs_{at}" for at in range(2, len(saved)))][: len(saved) - 1]
        saved = dict(zip([*names, "target"], saved, strict=True)) if len(saved) > 1 else {"": saved[0]}
    if not isinstance(saved, Mapping) or not all(hasattr(tensor, "numpy") for tensor in saved.values()):
        raise Unreadable(f"{path}: expected tensors: (inputs, target) or a dict of them")
    return {str(name): tensor.detach().numpy() for name, tensor in saved.items()}


def _of_arrays(path: str, arrays: Mapping[str, np.ndarray], target: str) -> Samples:
    """The target is the array that is asked for or called like one; the inputs are all of as many rows."""
    arrays = {name or "array": array for name, array in arrays.items()}
    if target and os.path.isfile(target):
        arrays |= {target: next(iter(_numpy_arrays(target).values()))}
    if target and target not in arrays:
        raise Unreadable(f"{path} has no {target}: it holds {', '.join(arrays)}")
    splits = {name: split_of(name) for name in arrays}
    names = [name for name in arrays if splits[name] in ("", "train")] or list(arrays)
    target_name = target or next((name for name in names if is_target_array(name)), "")
    rows = (
        len(arrays[target_name])
        if target_name
        else max((len(arrays[name]) for name in names if arrays[name].ndim), default=0)
    )
    inputs = [
        name
        for name in names
        if name != target_name
        and arrays[name].ndim
        and len(arrays[name]) == rows
        and arrays[name].dtype.kind in "biuf"
    ]
    inputs_text = ", ".join(f"{name} {arrays[name].shape}" for name in inputs)
    return Samples(
        tuple(arrays[name] for name in inputs),
        arrays[target_name] if target_name else None,
        f"inputs {inputs_text}; "
        + (f"target {target_name}" if target_name else "no target: none is called like one"),
    )


def _table(path: str, target: str) -> Samples:
    parts = prepared(read_file(path), target)
    if not parts:
        raise Unreadable(f"{path}: it has no rows")
    part = parts[0]
    if target and part.target != target:
        raise Unreadable(f"{path} has no column {target}: {', '.join([*part.names, *part.words][:8])}")
    names, labels = part.inputs, part.labels
    if not part.target:
        raise Unreadable(f"{path}: no column is called like a target: name it by --target")
    values = part.column(part.target)
    has_classes = values is not None and labels is not None and float(values.min()) >= 0
    truth = (
        values.astype(np.int64)
        if has_classes and values is not None
        else labels
        if labels is not None
        else values
    )
    matrix = part.matrix(names)
    fine = np.isfinite(matrix).all(1)
    left_out = f"; {int((~fine).sum())} rows with missing values left out" if not fine.all() else ""
    chosen = f"{len(names)} columns of numbers as inputs ({_listed(names)})"
    assert truth is not None
    return Samples((matrix[fine],), truth[fine], f"{chosen}; target {part.target}{left_out}")


def _images(path: str, images_last: bool) -> Samples:
    pixels, labels, classes, size = image_arrays(path)
    inputs = pixels if images_last else np.moveaxis(pixels, -1, 1)
    return Samples(
        (np.ascontiguousarray(inputs),),
        labels,
        f"images of {size} from 0 to 1; target: the folder, {len(classes)} classes ({_listed(classes)})",
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join([*names[:4], *(["..."] if len(names) > 4 else [])])


def sample_batches(
    samples: Samples, most: int, *, loss: Any, embeds: bool
) -> tuple[list[LabelledBatch], np.ndarray]:
    """Batches of rows from all over the file, and the numbers of those rows."""
    import torch

    count = len(samples.inputs[0])
    order = np.random.default_rng(0).permutation(count)[: most * _BATCH]
    real = isinstance(loss, str) and loss in _REAL_LOSSES
    batches = []
    for start in range(0, len(order), _BATCH):
        rows = order[start : start + _BATCH]
        arguments = tuple(torch.from_numpy(_numbers(array[rows], embeds)) for array in samples.inputs)
        assert samples.target is not None
        kind = np.int64 if samples.classes and not real else np.float32
        target = torch.from_numpy(samples.target[rows].astype(kind))
        batches.append(LabelledBatch(arguments, {}, target))
    return batches, order


def _numbers(rows: np.ndarray, embeds: bool) -> np.ndarray:
    """As a model takes them: bytes as 0 to 1, whole numbers as they are where something embeds them."""
    if rows.dtype == np.uint8 and rows.ndim > 2:
        return rows.astype(np.float32) / 255
    return rows.astype(np.int64 if rows.dtype.kind in "iub" and embeds else np.float32)


def loss_in_shape(loss_fn: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The loss with targets in the shape of the outputs, where a column of one lacks its second dimension."""

    @functools.wraps(loss_fn)
    def loss(output: Any, target: Any, **options: Any) -> Any:
        if target.is_floating_point() and tuple(output.shape) == (*target.shape, 1):
            target = target.unsqueeze(-1)
        return loss_fn(output, target, **options)

    loss.__dict__["shapes_targets"] = True
    return loss
