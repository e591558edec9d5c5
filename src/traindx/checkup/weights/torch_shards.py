"""A folder of `torch.distributed.checkpoint`: `.metadata` says where in which file each piece of a tensor is.

`.metadata` is a pickle; it is read by an unpickler that knows nothing but PyTorch's plain records.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any

from traindx.checkup.weights.state_parts import values_of
from traindx.checkup.weights.tensors import Checkpoint, StoredTensor, by_part
from traindx.core import files
from traindx.core.nouns import Unreadable

_RECORDS = {
    "torch.distributed.checkpoint.metadata": {
        "Metadata", "TensorStorageMetadata", "BytesStorageMetadata", "ChunkStorageMetadata",
        "TensorProperties", "MetadataIndex", "StorageMeta", "_MEM_FORMAT_ENCODING",
    },
    "torch.distributed.checkpoint.filesystem": {"_StorageInfo"},
    "torch": {"Size", "float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool"},
    "torch.serialization": {"_get_layout"},
    "pathlib": {"PosixPath", "Path", "PurePosixPath"},
    "pathlib._local": {"PosixPath", "Path", "PurePosixPath"},
    "collections": {"OrderedDict"},
}  # fmt: skip


class _Records(pickle.Unpickler):
    """Builds PyTorch's records of a checkpoint, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if name not in _RECORDS.get(module, ()):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)


def read(path: str) -> Checkpoint:
    """The tensors of the model and of the optimizer, put together from their pieces as they are measured."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise Unreadable(f"{path}: reading it needs PyTorch: pip install torch") from None
    source = io.BytesIO(files.read(os.path.join(path, ".metadata")))
    try:
        metadata = _Records(source).load()
        tensors = list(_tensors(path, metadata))
    except Unreadable:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:160]
        raise Unreadable(f"{path}: .metadata is damaged, or holds more than records ({reason})") from None
    model, optimizers, parts = by_part(tensors, lambda name: name.split(".")[0] in ("optim", "optimizer"))
    if not model:
        raise Unreadable(f"{path} holds no tensor of a model")
    shards = tuple(os.path.join(path, name) for name in sorted(os.listdir(path)))
    return Checkpoint(path, "torch.distributed", model, optimizers=optimizers, parts=parts, files=shards)


def _tensors(folder: str, metadata: Any) -> Iterator[StoredTensor]:
    places: dict[str, list[tuple[Any, Any]]] = {}
    for index, info in metadata.storage_data.items():
        places.setdefault(index.fqn, []).append((index, info))
    for name, entry in metadata.state_dict_metadata.items():
        if hasattr(entry, "chunks"):
            shape, dtype = tuple(entry.size), str(entry.properties.dtype).removeprefix("torch.")
            load = partial(_assembled, folder, shape, entry, places.get(name, []))
            yield StoredTensor(name, shape, dtype, load)


def _assembled(folder: str, shape: tuple[int, ...], entry: Any, pieces: list[tuple[Any, Any]]) -> Any:
    """One tensor of all its pieces."""
    import torch

    assembled = torch.zeros(shape, dtype=entry.properties.dtype)
    for index, info in pieces:
        name = os.path.basename(str(info.relative_path))
        with files.opened(os.path.join(folder, name)) as file:
            file.seek(info.offset)
            data = file.read(info.length)
        try:
            piece = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        except Exception:
            raise Unreadable(f"{os.path.join(folder, name)} is damaged or cut off") from None
        starts = tuple(index.offset) if index.offset is not None else (0,) * len(shape)
        place = tuple(slice(at, at + size) for at, size in zip(starts, piece.shape, strict=True))
        assembled[place] = piece
    return values_of(assembled)
