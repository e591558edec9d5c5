"""What the operations of a forward pass kept for the backward pass, read without side effects.

A saved value that stands behind a hook is left alone: asking for it would run the hook, which under gradient
checkpointing runs the forward pass again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import torch
import torch.utils.checkpoint
from torch.autograd.graph import Node

from traindx.observe.torch.graph import operation

CHECKPOINTING = "gradient checkpointing"
PACKED = "saved values are packed away by hooks"
FREED = "saved values are already freed"
# These stand for whole parts of the model.
OPAQUE = {"CheckpointFunction": CHECKPOINTING, "CompiledFunction": "torch.compile"}

_RAW = "_raw_saved_"


class Saved:
    """Reads what nodes kept; `hidden(node)` says why something of it was not read."""

    def __init__(self) -> None:
        self._hidden: dict[Node, str] = {}
        self._names: dict[type, tuple[str, ...]] = {}
        self._checkpointed: bool | None = None

    def hidden(self, node: Node) -> str:
        return self._hidden.get(node) or OPAQUE.get(operation(node), "")

    def read(self, node: Node) -> dict[str, torch.Tensor]:
        """Saved tensors by the name of the argument or result they were."""
        tensors: dict[str, torch.Tensor] = {}
        for name in self._saved_names(node):
            try:
                raw = getattr(node, _RAW + name)
                if self._is_hooked(node, raw):
                    continue
                value = getattr(node, "saved_tensors" if name == "tensors" else f"_saved_{name}")
            except (RuntimeError, AttributeError):
                self._hidden.setdefault(node, FREED)
                continue
            tensors.update(_flat(name, value))
        return tensors

    def _is_hooked(self, node: Node, raw: Any) -> bool:
        for saved_value in raw if isinstance(raw, tuple | list) else (raw,):
            if saved_value is None:
                continue
            if not hasattr(saved_value, "unpack_hook"):
                if self._checkpoints_alive():
                    self._hidden[node] = CHECKPOINTING
                    return True
            elif saved_value.unpack_hook is not None:
                recomputes = (
                    getattr(saved_value.unpack_hook, "__module__", "") == torch.utils.checkpoint.__name__
                )
                self._hidden[node] = CHECKPOINTING if recomputes else PACKED
                return True
        return False

    def _checkpoints_alive(self) -> bool:
        """Older versions of PyTorch do not show hooks: then any living checkpoint hides all values."""
        if self._checkpointed is None:
            frame = getattr(torch.utils.checkpoint, "_CheckpointFrame", None)
            self._checkpointed = frame is None or any(type(item) is frame for item in gc.get_objects())
        return self._checkpointed

    def _saved_names(self, node: Node) -> tuple[str, ...]:
        kind = type(node)
        if kind not in self._names:
            names = [name.removeprefix(_RAW) for name in dir(kind) if name.startswith(_RAW)]
            self._names[kind] = tuple(names)
        return self._names[kind]


def _flat(name: str, value: object) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, tuple | list):
        for number, item in enumerate(value):
            if isinstance(item, torch.Tensor):
                yield f"{name}[{number}]", item
