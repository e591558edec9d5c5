"""A folder of shards as Hugging Face writes it: an index in JSON names the file of each tensor."""

from __future__ import annotations

import os
from dataclasses import replace

from traindx.checkup.weights import safetensors, torch_file
from traindx.checkup.weights.tensors import Checkpoint, StoredTensor
from traindx.core import files
from traindx.core.documents import json_of
from traindx.core.nouns import Unreadable

_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")


def read(path: str) -> Checkpoint:
    """All shards as one checkpoint; raises Unreadable where one of them is missing."""
    folder, index = (path, "") if os.path.isdir(path) else os.path.split(path)
    index = index or next(name for name in _INDEXES if os.path.exists(os.path.join(folder, name)))
    document = json_of(files.read(os.path.join(folder, index)))
    weight_map = document.get("weight_map") if isinstance(document, dict) else None
    if not isinstance(weight_map, dict) or not weight_map:
        raise Unreadable(f"{os.path.join(folder, index)} names no shard")
    shards = sorted({str(name) for name in weight_map.values()})
    stored: list[StoredTensor] = []
    for name in shards:
        shard = os.path.join(folder, name)
        if os.path.basename(name) != name or not os.path.exists(shard):
            raise Unreadable(f"{os.path.join(folder, index)} names the shard {name}, which is not there")
        part = safetensors.read(shard) if name.endswith(".safetensors") else torch_file.read(shard)
        stored += [replace(tensor, storage=f"{name}:{tensor.storage}") for tensor in part.tensors]
    missing = sorted(set(weight_map) - {tensor.name for tensor in stored})
    notes = (
        (f"{len(missing)} tensors of the index are in no shard: {', '.join(missing[:3])}",) if missing else ()
    )
    return Checkpoint(
        path, "sharded", stored, files=tuple(os.path.join(folder, shard) for shard in shards), notes=notes
    )
