"""What the operations of an autograd graph are called, and which of them can leave the finite numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch.autograd.graph import Node

from traindx.observe.torch.finite import Kind, extent, readable
from traindx.observe.torch.graph import is_custom, operation, output_dtype, setting

WORDS = {
    "Addmm": "matrix product",
    "Mm": "matrix product",
    "Bmm": "matrix product",
    "Baddbmm": "matrix product",
    "Mv": "matrix product",
    "Dot": "dot product",
    "Linear": "matrix product",
    "Div": "division",
    "Mul": "multiplication",
    "Add": "addition",
    "Sub": "subtraction",
    "Rsub": "subtraction",
    "Pow": "power",
    "ToCopy": "cast",
    "LinalgVectorNorm": "norm",
    "NativeBatchNorm": "batch norm",
    "CudnnBatchNorm": "batch norm",
    "NativeLayerNorm": "layer norm",
    "NativeGroupNorm": "group norm",
    "LogSoftmax": "log softmax",
    "NllLoss": "negative log likelihood",
    "Logsumexp": "logsumexp",
}
PRODUCTS = frozenset(
    {"Addmm", "Mm", "Bmm", "Baddbmm", "Mv", "Dot", "Linear", "Convolution", "MkldnnConvolution"}
)
_MATRIX = frozenset({"Addmm", "Mm", "Bmm", "Baddbmm", "Linear"})
_MANY = 256
# These hand on, choose among or squeeze what they are given: finite stays finite.
HARMLESS = frozenset(
    "T Transpose Permute View UnsafeView ReshapeAlias Reshape Expand Unsqueeze Squeeze Clone Alias Slice "
    "Select Split SplitWithSizes UnsafeSplit Unbind Cat Stack AsStrided Index IndexSelect Gather Relu "
    "LeakyRelu Sigmoid Tanh Softmax LogSoftmax Max Min Amax Amin Clamp ClampMin ClampMax Hardtanh "
    "MaxPool2DWithIndices AdaptiveMaxPool2D Embedding Neg Abs Sign Sin Cos Erf Atan Where MaskedFill "
    "MaskedSelect Flip Roll Tril Triu Repeat NativeDropout".split()
)
# These leave every value in its place.
KEEPING = HARMLESS | {"Add", "Sub", "Mul", "Div", "ToCopy"}
# These write -inf on purpose.
MASKS = frozenset(
    "MaskedFill MaskedScatter Where Add Baddbmm Scatter IndexFill IndexPut ConstantPadNd Copy "
    "CopySlices".split()
)


@dataclass(frozen=True, eq=False)
class NonfiniteCause:
    """What happened in plain words, and the tensor whose numbers show it."""

    words: str
    tensor: torch.Tensor | None = None
    of: str = "input"


@dataclass(frozen=True, eq=False)
class Scene:
    """One node with what it saved and, where known, what came out of it."""

    node: Node
    saved: Mapping[str, torch.Tensor]
    output: Kind | None = None

    @property
    def name(self) -> str:
        return operation(self.node)

    def ends(self, name: str) -> tuple[float, float]:
        """Smallest and largest value of a saved tensor; NaN, of which nothing holds, when it is not there."""
        ends = extent(self.saved[name]) if name in self.saved else None
        return ends or (math.nan, math.nan)

    def number(self, name: str) -> float | None:
        value = setting(self.node, name)
        return float(value) if isinstance(value, int | float) else None


def plain(node: Node) -> str:
    """The operation in plain words: `NativeLayerNorm` -> `layer norm`."""
    name = operation(node)
    if is_custom(node):
        return f"custom function {name}"
    return WORDS.get(name, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def may_overflow(scene: Scene) -> bool:
    """Whether what it saved takes a product or a power beyond the range of its number type."""
    dtype = output_dtype(scene.node)
    factors = [readable(tensor) for tensor in scene.saved.values() if tensor.is_floating_point()]
    operands = [tensor.detach() for tensor in factors if tensor is not None and tensor.numel()]
    if dtype is None or not dtype.is_floating_point or not operands:
        return False
    limit = torch.finfo(dtype).max
    exponent = scene.number("exponent")
    if scene.name == "Pow" and exponent is not None and exponent > 1:
        return largest(operands[0]) > float(limit ** (1 / exponent))
    if len(operands) < 2:
        return False
    if scene.name in _MATRIX and operands[0].shape[-1:] == operands[1].shape[-2:-1]:
        # NaN here is inf - inf within a sum.
        return not _largest_product(operands[0], operands[1]) <= limit
    if scene.name == "Mul":
        return largest(operands[0]) * largest(operands[1]) > limit
    terms = math.prod(operands[1].shape[1:]) if scene.name in PRODUCTS else 0
    return terms * largest(operands[0]) * largest(operands[1]) > limit


def largest(tensor: torch.Tensor) -> float:
    """The largest size of a number in it; NaN when there is none to read."""
    return max(map(abs, extent(tensor) or (math.nan,)))


def _largest_product(left: torch.Tensor, right: torch.Tensor) -> float:
    """Of the longest rows with the longest columns: where ordinary ones overflow, these do."""
    if left.ndim != 2 or right.ndim != 2:
        left, right = left.reshape(-1, *left.shape[-2:]), right.reshape(-1, *right.shape[-2:])
        place = int(torch.argmax(left.abs().amax(dim=(1, 2)) * right.abs().amax(dim=(1, 2))))
        left, right = left[place], right[place]
    rows, columns = _longest(left), _longest(right.T)
    with torch.autocast(rows.device.type, enabled=False):
        return largest(rows @ columns.T)


def _longest(rows: torch.Tensor) -> torch.Tensor:
    lengths = torch.linalg.vector_norm(rows, dim=1, dtype=torch.float32)
    return rows[lengths.topk(min(_MANY, len(lengths))).indices].float()


def overflow(scene: Scene) -> NonfiniteCause:
    """A result beyond the largest number of its type."""
    dtype = output_dtype(scene.node)
    name = str(dtype).removeprefix("torch.") if dtype is not None else "number"
    real = dtype is not None and dtype.is_floating_point
    limit = f" (largest {torch.finfo(dtype).max:.5g})" if dtype is not None and real else ""
    tensor = next((tensor for tensor in scene.saved.values() if tensor.is_floating_point()), None)
    return NonfiniteCause(f"{name} overflow in {plain(scene.node)}{limit}", tensor)
