"""Which reader a checkpoint's file or folder belongs to."""

from __future__ import annotations

import os
from importlib import import_module

from traindx.checkup.weights.tensors import Checkpoint
from traindx.core.documents import Damaged
from traindx.core.nouns import Unreadable

_READERS = {
    ".safetensors": "safetensors", ".onnx": "onnx_file", ".keras": "keras_file", ".h5": "keras_file",
    ".hdf5": "keras_file",
}  # fmt: skip
_SHARDED = (("model.safetensors.index.json", "sharded"), ("pytorch_model.bin.index.json", "sharded"),
            (".metadata", "torch_shards"))  # fmt: skip


def shards_of(folder: str) -> str:
    """The reader of a folder that is one checkpoint; empty for others."""
    readers = [reader for name, reader in _SHARDED if os.path.exists(os.path.join(folder, name))]
    return readers[0] if readers else ""


def opened(path: str, *, trust_code: bool = False) -> Checkpoint:
    """A checkpoint by the reader of its format; raises Unreadable with one line."""
    ending = os.path.splitext(path.lower())[1]
    reader = shards_of(path) if os.path.isdir(path) else _READERS.get(ending, "torch_file")
    reader = "sharded" if path.endswith(".index.json") else reader
    try:
        module = import_module(f"traindx.checkup.weights.{reader}")
        options = {"trust_code": trust_code} if reader == "torch_file" else {}
        checkpoint: Checkpoint = module.read(path, **options)
        return checkpoint
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except Damaged as error:
        raise Unreadable(f"{path}: {error}") from None
