"""Which elements of an optimizer's parameters are sampled, and where they are put."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from traindx.observe.arrays import Values
from traindx.observe.torch.element_samples import (
    READABLE,
    ElementSpread,
    dense,
    plain,
    sample_of,
    spread,
)

_WIDE = (torch.float64, torch.complex128)
_HALF = (torch.float16, torch.bfloat16)
BEFORE, AFTER, GRADIENT = range(3)


class Bucket:
    """Parameters on one device whose numbers are kept in one type: float32, or float64 for float64.

    `numbers` are all of them, `sampled` the ones with a sample; `block` holds the samples one after the
    other, once for each of BEFORE, AFTER and GRADIENT.
    """

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.device = device
        self.dtype = dtype
        self.numbers: list[int] = []
        self.sampled: list[int] = []
        self.spreads: list[ElementSpread] = []
        self.views: list[torch.Tensor] = []
        self.gappy: list[int] = []
        self.sizes: list[int] = []
        self.layers: list[int] = []
        # Positions of parameters in half precision, whose small updates may round to nothing.
        self.coarse: list[int] = []
        # The gradients of the sample before, and which of them were there (None: all).
        self.last: tuple[Values, set[int] | None] | None = None

    def add(self, number: int, data: torch.Tensor, layer: int, sampled: bool) -> None:
        self.numbers.append(number)
        if not sampled:
            return
        self.layers.append(layer)
        where = spread(data.numel())
        if not dense(data):
            self.gappy.append(len(self.sampled))
        if data.dtype in _HALF and data.dim() > 1:
            self.coarse.append(len(self.sampled))
        self.sampled.append(number)
        self.spreads.append(where)
        self.views.append(sample_of(data, where))
        self.sizes.append(data.numel())

    def close(self) -> None:
        """All parameters are in: make the blocks for their samples."""
        lengths = [where.length for where in self.spreads]
        self.starts = np.cumsum([0, *lengths[:-1]])
        self.factors = [size / length for size, length in zip(self.sizes, lengths, strict=True)]
        self.position = {number: position for position, number in enumerate(self.sampled)}
        self.block = torch.zeros((3, sum(lengths)), dtype=self.dtype, device=self.device)
        self.slots = [
            [
                part.view(where.size)
                for part, where in zip(torch.split_with_sizes(row, lengths), self.spreads, strict=True)
            ]
            for row in self.block
        ]


class ElementPlan:
    """The parameters of one optimizer. It fits as long as they lie where they lay.

    A vector next to a matrix in the same layer (a bias) is not sampled: it would hardly show.
    """

    def __init__(self, parameters: Sequence[torch.Tensor], layers: Sequence[int], version: int) -> None:
        self.version = version
        self.ids = [id(parameter) for parameter in parameters]
        self.places = _places(parameters)
        self.names: list[str] = []
        self.layers = list(layers)
        self.unreached: list[int] = []
        self.by_hand = False
        self._shapes = [parameter.shape for parameter in parameters]
        with_matrix = {
            layer for parameter, layer in zip(parameters, layers, strict=True) if parameter.dim() > 1
        }
        buckets: dict[tuple[torch.device, torch.dtype], Bucket] = {}
        for number, (parameter, layer) in enumerate(zip(parameters, layers, strict=True)):
            data = plain(parameter)
            if data is None or not data.numel() or data.dtype not in READABLE:
                continue
            key = (data.device, torch.float64 if data.dtype in _WIDE else torch.float32)
            sampled = parameter.dim() > 1 or layer not in with_matrix
            buckets.setdefault(key, Bucket(*key)).add(number, data, layer, sampled)
            if parameter.requires_grad:
                self.unreached.append(number)
        self.buckets = list(buckets.values())
        for bucket in self.buckets:
            bucket.close()

    def fits(self, parameters: Sequence[torch.Tensor], version: int) -> bool:
        return (
            version == self.version
            and [id(parameter) for parameter in parameters] == self.ids
            and _places(parameters) == self.places
        )

    def follows(self, parameters: Sequence[torch.Tensor]) -> bool:
        """Whether these came in the place of the parameters: `w = w - lr * g` makes a new one each step."""
        if [parameter.shape for parameter in parameters] != self._shapes:
            return False
        self.ids, self.places = [id(parameter) for parameter in parameters], _places(parameters)
        return all(
            _read_anew(bucket, list(range(len(bucket.sampled))), parameters) for bucket in self.buckets
        )

    def keep_before(self, parameters: Sequence[torch.Tensor]) -> None:
        for bucket in self.buckets:
            _read_anew(bucket, bucket.gappy, parameters)
            if bucket.views:
                torch._foreach_copy_(bucket.slots[BEFORE], bucket.views)

    def keep_after(self, parameters: Sequence[torch.Tensor]) -> bool:
        """False when the parameters are no longer the same ones."""
        if [id(parameter) for parameter in parameters] != self.ids and not (
            self.by_hand and self.follows(parameters)
        ):
            return False
        places = _places(parameters)
        moved = set()
        if places != self.places:
            moved = {number for number, place in enumerate(places) if place != self.places[number]}
        for bucket in self.buckets:
            # Some optimizers give a parameter new memory instead of changing what it has.
            fresh = (
                [position for position, number in enumerate(bucket.sampled) if number in moved]
                if moved
                else []
            )
            if not _read_anew(bucket, bucket.gappy + fresh, parameters):
                return False
            if bucket.views:
                torch._foreach_copy_(bucket.slots[AFTER], bucket.views)
        self.places = places
        return True


def _read_anew(bucket: Bucket, positions: list[int], parameters: Sequence[torch.Tensor]) -> bool:
    for position in positions:
        data = plain(parameters[bucket.sampled[position]])
        if data is None or data.numel() != bucket.sizes[position]:
            return False
        bucket.views[position] = sample_of(data, bucket.spreads[position])
    return True


def _places(parameters: Sequence[torch.Tensor]) -> list[int]:
    return [
        parameter.data_ptr() if type(parameter) is torch.nn.Parameter else _place(parameter)
        for parameter in parameters
    ]


def _place(parameter: torch.Tensor) -> int:
    try:
        return int(getattr(parameter, "_local_tensor", parameter).data_ptr())
    except RuntimeError:  # a tensor without memory of its own
        return 0
