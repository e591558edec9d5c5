"""The tensors of a batch, and which of them are inputs and targets: by their names, else by their places.

The one place of these rules. No code of the user's is run: what a class of its own holds is read from its
attributes, so that nothing is decoded, moved or drawn by looking.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import torch
from torch import nn

# What models call their main input.
MAIN_INPUTS = (
    "input_ids",
    "pixel_values",
    "inputs_embeds",
    "input_values",
    "input_features",
    "inputs",
    "input",
    "x",
    "src",
)
_DEPTH, _VISITS = 4, 256
_ENTRIES, _INSIDE = 64, 16
_LABEL = re.compile(
    r"label|target|^y(s|_true|_train|_batch)?$|^(tgt|gt)s?$|ground_?truth|^answers?$"
    r"|^class(es)?(_?(id|idx|index))?$",
    re.IGNORECASE,
)
_ABOUT_LABELS = re.compile(r"mask|len(gth)?s?$|weight|name", re.IGNORECASE)
_STRUCTURE = re.compile(r"edge|adj|^batch$|^ptr$", re.IGNORECASE)
# Says where to look, not what is there.
_ASIDE = re.compile(r"mask|index|indices|adj|len(gth)?s?$|offsets?$", re.IGNORECASE)
# What a model is handed back of its own.
_CARRIED = re.compile(r"position|^hidden|state|^(h|c)_?0$", re.IGNORECASE)
_IDENTITY = re.compile(r"^(id|idx|index|uid|guid|row|(sample|row)_?(id|idx|index))(s|es)?$", re.IGNORECASE)
_NO_TARGET = re.compile(r"^t$|time|step|weight|(^|_)ids?$", re.IGNORECASE)
# Of the same length as the data, and the same for most samples.
_BESIDE = re.compile(r"weight|type_ids|segment|position_ids", re.IGNORECASE)
_LEAVES = (str, bytes, bytearray, bool, int, float, complex, type, FunctionType, ModuleType, nn.Module)


class BatchColumn(NamedTuple):
    """A tensor of a batch; the path are the keys, fields and places that lead to it."""

    path: tuple[str, ...]
    tensor: torch.Tensor

    @property
    def length(self) -> int:
        return self.tensor.shape[0] if self.tensor.dim() else 0

    @property
    def is_per_sample(self) -> bool:
        return 0 < self.length == self.tensor.numel()


class Parts(NamedTuple):
    """Inputs and target of a batch, and how many other tensors there are.

    `other_inputs` are the inputs among these: only with them a sample is the same as another.
    """

    inputs: torch.Tensor
    target: torch.Tensor
    extra_count: int
    other_inputs: tuple[torch.Tensor, ...] = ()


@lru_cache(1024)
def is_label(name: str) -> bool:
    """Whether a name is one of answers."""
    return _LABEL.search(name) is not None


@lru_cache(1024)
def is_structure(name: str) -> bool:
    """Whether a name is one of the connectivity of a graph."""
    return _STRUCTURE.search(name) is not None


@lru_cache(1024)
def is_aside(name: str) -> bool:
    """Whether it is a mask, an index, a length: structure, not data."""
    return is_structure(name) or _ASIDE.search(name) is not None


@lru_cache(1024)
def is_given(name: str) -> bool:
    """Whether a model may learn from what it gets under this name."""
    return not (is_label(name) or is_aside(name) or _CARRIED.search(name))


def parts_of(batch: Any) -> Parts | None:
    """Input and target of a batch as loaders give it; None where they are not known."""
    in_order = isinstance(batch, tuple | list) and not hasattr(type(batch), "_fields") and len(batch) > 1
    if in_order and isinstance(batch[0], torch.Tensor) and isinstance(batch[-1], torch.Tensor):
        between = [tensor for tensor in batch[1:-1] if isinstance(tensor, torch.Tensor)]
        return Parts(batch[0], batch[-1], len(between), _as_long(between, batch[0]))
    columns = columns_of(batch)
    pool = columns
    target = _named_target(columns)
    if target is None and isinstance(batch, tuple | list):
        target = _last_of(columns)
        # In a tuple of several things the first is what goes in.
        pool = [column for column in columns if column.path[0] == columns[0].path[0]] if target else columns
    target = target or _only_other(columns)
    inputs = _main_input(pool, target) if target is not None else None
    if inputs is None or target is None:
        return None
    other_columns = [
        column
        for column in columns
        if column is not inputs and column is not target and not _is_identity(column)
    ]
    other_inputs = [column.tensor for column in other_columns if not any(map(is_label, column.path))]
    return Parts(inputs.tensor, target.tensor, len(other_columns), _as_long(other_inputs, inputs.tensor))


def columns_of(batch: Any) -> list[BatchColumn]:
    """All tensors of a batch, in their order; what is too deep or too many is left out."""
    columns: list[BatchColumn] = []
    visits = _VISITS

    def visit(value: Any, path: tuple[str, ...], depth: int) -> None:
        nonlocal visits
        visits -= 1
        if isinstance(value, torch.Tensor):
            columns.append(BatchColumn(path, value))
        elif depth and visits > 0 and value is not None and not isinstance(value, _LEAVES):
            for name, entry in _entries(value, top=not path):
                visit(entry, (*path, name), depth - 1)

    visit(batch, (), _DEPTH)
    return columns


def _entries(value: Any, *, top: bool) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        values = list(dict.items(value))[:_ENTRIES]
        return [(key if isinstance(key, str) else "", entry) for key, entry in values]
    if isinstance(value, tuple | list):
        size = tuple.__len__(value) if isinstance(value, tuple) else list.__len__(value)
        if size > (_ENTRIES if top else _INSIDE):
            return ()
        values = list(tuple.__iter__(value) if isinstance(value, tuple) else list.__iter__(value))
        names = getattr(type(value), "_fields", None) or [str(number) for number in range(size)]
        return list(zip(names, values, strict=False)) if top or _side_by_side(values) else ()
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        field_names = (
            [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
        )
        return [(name, getattr(value, name, None)) for name in field_names]
    return list(attributes.items())[:_ENTRIES] if isinstance(attributes, dict) else ()


def _side_by_side(values: list[Any]) -> bool:
    """Whether a list holds several tensors of each sample, rather than one for each sample."""
    lengths = {value.shape[0] if isinstance(value, torch.Tensor) and value.dim() else 0 for value in values}
    return len(lengths) == 1 and lengths != {0} and lengths != {len(values)}


def _named_target(columns: list[BatchColumn]) -> BatchColumn | None:
    labels = [
        column
        for column in columns
        if any(map(is_label, column.path)) and not any(_ABOUT_LABELS.search(name) for name in column.path)
    ]
    return next((column for column in labels if column.is_per_sample), labels[0] if labels else None)


def _last_of(columns: list[BatchColumn]) -> BatchColumn | None:
    """What a tuple ends with, where that is a single tensor; names of files after it are no data."""
    last = [column for column in columns if column.path[0] == columns[-1].path[0]]
    several = bool(columns) and columns[0].path[0] != columns[-1].path[0]
    return last[0] if several and len(last) == 1 else None


def _only_other(columns: list[BatchColumn]) -> BatchColumn | None:
    """Without a name that says so: the one number of each sample, where there is one other thing."""
    data = [column for column in columns if not _is_identity(column) and not any(map(is_aside, column.path))]
    single = [
        column
        for column in data
        if column.is_per_sample and not _NO_TARGET.search(column.path[-1] if column.path else "")
    ]
    return single[0] if len(data) == 2 and len(single) == 1 else None


def _main_input(pool: list[BatchColumn], target: BatchColumn) -> BatchColumn | None:
    """What bears a usual name, else real numbers, else whole ones; with as many rows as there are targets."""
    inputs = [
        column
        for column in pool
        if column is not target
        and column.tensor.dim() > 1
        and column.length == target.length
        and column.tensor.dtype is not torch.bool
        and not any(is_aside(name) or is_label(name) or _BESIDE.search(name) for name in column.path)
    ]
    return min(inputs, key=_rank, default=None)


def _rank(column: BatchColumn) -> tuple[int, bool]:
    name = column.path[-1]
    place = MAIN_INPUTS.index(name) if name in MAIN_INPUTS else len(MAIN_INPUTS)
    return place, not column.tensor.is_floating_point()


def _as_long(tensors: list[torch.Tensor], inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(
        tensor for tensor in tensors if tensor.dim() and inputs.dim() and tensor.shape[0] == inputs.shape[0]
    )


def _is_identity(column: BatchColumn) -> bool:
    """Which sample of the data it is: known by name, of no use to a model."""
    return column.is_per_sample and _IDENTITY.search(column.path[-1] if column.path else "") is not None
