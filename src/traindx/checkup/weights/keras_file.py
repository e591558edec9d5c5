"""`.keras` and `.h5` of Keras: data sets of an HDF5 file; the model's configuration is not executed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from functools import partial
from typing import Any

from traindx.checkup.weights.tensors import Checkpoint, StoredTensor, by_part, error_line
from traindx.core import files
from traindx.core.nouns import Unreadable

_INFLATED_MOST = 20
_NO_H5PY = "reading it needs h5py: pip install h5py"
# Keras numbers the variables of its layers; by these shapes they are named as people know them.
_NORM = ("gamma", "beta", "moving_mean", "moving_variance")


def read(path: str) -> Checkpoint:
    """The variables of the model, and of its optimizer where they were saved."""
    try:
        import h5py
    except ImportError:
        raise Unreadable(f"{path}: {_NO_H5PY}") from None
    try:
        with files.opened(path) as file:
            in_zip = file.read(2) == b"PK"
        store = h5py.File(_unpacked(path), "r") if in_zip else h5py.File(path, "r")
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise Unreadable(f"{path} is no checkpoint of Keras, or it is damaged: {error_line(error)}") from None
    model, optimizers, parts = by_part(_variables(store), _of_optimizer)
    if not model:
        raise Unreadable(f"{path} holds no variable of a model")
    return Checkpoint(path, "Keras", model, "out_last", optimizers, parts=parts, files=(path,))


def _unpacked(path: str) -> Any:
    """The weights of a `.keras` archive, in memory."""
    with files.opened(path) as file, zipfile.ZipFile(file) as archive:
        entry = archive.getinfo("model.weights.h5")
        if entry.file_size > _INFLATED_MOST * max(1, entry.compress_size) + (1 << 20):
            raise Unreadable(f"{path} would unpack to many times its size: it is no file of Keras's")
        return io.BytesIO(archive.read(entry))


def _variables(store: Any) -> Iterator[StoredTensor]:
    import h5py

    names: list[str] = []
    store.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    for name in names:
        data = store[name]
        if data.dtype.kind in "fiub":
            # The file stays open as long as one of its data sets is held.
            yield StoredTensor(
                _readable_name(name, store), tuple(data.shape), str(data.dtype), partial(_values, data)
            )


def _values(data: Any) -> Any:
    return data[()]


def _readable_name(name: str, store: Any) -> str:
    """`layers/dense/vars/0` -> `dense/kernel`; a normalisation's by their order."""
    front, _, last = name.rpartition("/")
    if not front.endswith("vars") or not last.isdigit():
        return name.removesuffix(":0")
    layer, siblings, at = front.removesuffix("/vars"), store[front], int(last)
    shapes = [tuple(siblings[key].shape) for key in sorted(siblings, key=int)]
    if len(shapes) in (2, 4) and len(set(shapes)) == 1 and len(shapes[0]) == 1:
        leaf = _NORM[at]
    else:
        leaf = "kernel" if len(shapes[at]) > 1 and at == 0 else "bias" if len(shapes[at]) == 1 else str(at)
    for group in ("_layer_checkpoint_dependencies/", "layers/"):
        layer = layer.removeprefix(group)
    return f"{layer}/{leaf}"


def _of_optimizer(name: str) -> bool:
    return name.startswith(("optimizer/", "optimizer_weights/"))
