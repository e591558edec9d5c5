"""What every reader of checkpoints gives: tensors one after another, and what else the file holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from traindx.core import files
from traindx.core.nouns import Unreadable

if TYPE_CHECKING:
    Array = npt.NDArray[Any]

Layout = Literal["out_first", "out_last"]


@dataclass(frozen=True)
class StoredTensor:
    """One tensor of a checkpoint; `load` reads its values, and nothing else is kept of them.

    `storage` is equal for tensors that share memory (tied weights); empty where the format does not say.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    load: Callable[[], Array]
    storage: str = ""


@dataclass(frozen=True)
class StoredOptimizer:
    """The state of an optimizer: its settings, and its tensors by parameter: `exp_avg/3`."""

    groups: tuple[Mapping[str, Any], ...]
    tensors: Iterable[StoredTensor]
    steps: tuple[float, ...] = ()
    parameters: int = 0


@dataclass(frozen=True)
class Checkpoint:
    """A file or folder of weights. `counters` are its epoch and step; `parts` what it holds of a training."""

    path: str
    format: str
    tensors: Iterable[StoredTensor]
    layout: Layout = "out_first"
    optimizers: tuple[StoredOptimizer, ...] = ()
    counters: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[str, ...] = ("model",)
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def by_part(
    tensors: Iterable[StoredTensor], of_optimizer: Callable[[str], bool]
) -> tuple[list[StoredTensor], tuple[StoredOptimizer, ...], tuple[str, ...]]:
    """The tensors of the model, the optimizer's where there are some, and the parts of such a file.

    `of_optimizer` says by its name whether a tensor is the optimizer's.
    """
    model, optimizer = list[StoredTensor](), list[StoredTensor]()
    for tensor in tensors:
        (optimizer if of_optimizer(tensor.name) else model).append(tensor)
    if not optimizer:
        return model, (), ("model",)
    return model, (StoredOptimizer((), optimizer),), ("model", "optimizer", "training")


def error_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split())[:160] or type(error).__name__


# Names of dtypes as file formats spell them -> NumPy's; those NumPy lacks are decoded by hand.
DTYPES: Mapping[str, str] = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16",
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool",
    "U16": "uint16", "U32": "uint32", "U64": "uint64",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
}  # fmt: skip
WIDTHS: Mapping[str, int] = {"bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}


def part_of(path: str, start: int, size: int) -> memoryview:
    """So many bytes of a file; raises Unreadable where it has become shorter."""
    with files.opened(path) as file:
        file.seek(start)
        data = file.read(size)
    if len(data) < size:
        raise Unreadable(f"{path} is cut off, or somebody writes to it now")
    return memoryview(data)


def decoded(raw: memoryview | bytes, dtype: str, shape: tuple[int, ...]) -> Array:
    """The values of raw little-endian bytes; 16 bits of a bfloat16 are the upper half of a float32."""
    if dtype == "bfloat16":
        upper = np.frombuffer(raw, dtype="<u2").astype(np.uint32) << 16
        return upper.view(np.float32).reshape(shape)
    if dtype.startswith("float8"):
        return _eight_bits(np.frombuffer(raw, dtype=np.uint8), dtype).reshape(shape)
    return np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).reshape(shape)


def width(dtype: str) -> int:
    """Bytes of one value."""
    return WIDTHS.get(dtype) or np.dtype(dtype).itemsize


def _eight_bits(codes: npt.NDArray[np.uint8], dtype: str) -> Array:
    """All 256 values of an 8-bit float, looked up."""
    exponent_bits, bias = (4, 7) if dtype == "float8_e4m3fn" else (5, 15)
    mantissa_bits = 7 - exponent_bits
    every = np.arange(256)
    sign = np.where(every >> 7, -1.0, 1.0)
    exponent = (every >> mantissa_bits) & ((1 << exponent_bits) - 1)
    part = (every & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    values = sign * np.where(
        exponent == 0, part * 2.0 ** (1 - bias), (1 + part) * 2.0 ** (exponent.astype(float) - bias)
    )
    if dtype == "float8_e4m3fn":
        values[(every & 0x7F) == 0x7F] = np.nan
    else:
        top = exponent == 31
        values[top] = np.where(part[top] == 0, sign[top] * np.inf, np.nan)
    table: Array = values.astype(np.float32)
    return table[codes]
