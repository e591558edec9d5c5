"""Gradients as the optimizer finds them: exact norms, and a sample of their elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite, sqrt

import torch

from traindx.observe.torch.element_samples import READABLE, plain, sample_of
from traindx.observe.torch.sampled_elements import GRADIENT, Bucket, ElementPlan

Scale = float | torch.Tensor | None
_HALF = frozenset({torch.float16, torch.bfloat16})


class Gradients:
    """What was read of the gradients of one optimizer: which have none, norms and samples of the others."""

    def __init__(self, plan: ElementPlan, scale: Scale) -> None:
        self.plan = plan
        self.scale = scale
        self.missing: set[int] = set()
        # Buckets, parameters and their norms: numbers on the host, a tensor on a device.
        self.dense: list[tuple[int, list[int], list[float] | torch.Tensor]] = []
        # Of a bucket that misses some: the positions of the samples that were taken.
        self.sampled: dict[int, set[int]] = {}
        self.sparse: list[tuple[int, int, torch.Tensor]] = []
        self.nonfinite: dict[int, int] = {}

    def tensors(self) -> Iterator[torch.Tensor]:
        """What has to be brought to the host."""
        yield from (norms for _, _, norms in self.dense if isinstance(norms, torch.Tensor))
        yield from (numbers for _, _, numbers in self.sparse)
        if isinstance(self.scale, torch.Tensor):
            yield self.scale.detach().reshape(1)

    def total(self) -> torch.Tensor | None:
        """The norm of them all."""
        parts = [norms for _, _, norms in self.dense] + [numbers[:1] for _, _, numbers in self.sparse]
        if not parts:
            return None
        host = sum(norm * norm for part in parts if isinstance(part, list) for norm in part)
        total = torch.tensor(host, dtype=torch.float32, device="cpu").sqrt()
        devices = [torch.linalg.vector_norm(part.float()) for part in parts if isinstance(part, torch.Tensor)]
        if devices:
            total = torch.linalg.vector_norm(
                torch.stack([norm.to(devices[0].device) for norm in (*devices, total)])
            )
        return total if self.scale is None else total / self.scale


def read_gradients(plan: ElementPlan, tensors: Sequence[torch.Tensor | None], scale: Scale) -> Gradients:
    """Norms of all gradients in full, and their elements at the places that the plan samples."""
    gradients = Gradients(plan, scale)
    for place, bucket in enumerate(plan.buckets):
        numbers: list[int] = []
        values: list[torch.Tensor] = []
        for number in bucket.numbers:
            gradient = tensors[number]
            if gradient is None:
                gradients.missing.add(number)
            elif _is_usual(gradient):
                numbers.append(number)
                values.append(gradient)
            elif gradient.layout is torch.sparse_coo:
                gradients.sparse.append((number, gradient.numel(), _of_sparse(gradient)))
            else:
                data = plain(gradient)
                if data is not None and data.dtype in READABLE and data.device == bucket.device:
                    numbers.append(number)
                    values.append(data)
        _read_samples(gradients, bucket, numbers, values)
        if numbers:
            _read_norms(gradients, place, numbers, values)
    return gradients


def _read_samples(
    gradients: Gradients, bucket: Bucket, numbers: list[int], values: list[torch.Tensor]
) -> None:
    positions: list[int] = []
    samples: list[torch.Tensor] = []
    for number, data in zip(numbers, values, strict=True):
        position = bucket.position.get(number)
        if position is not None:
            positions.append(position)
            samples.append(sample_of(data, bucket.spreads[position]))
    slots = bucket.slots[GRADIENT]
    if len(positions) < len(slots):
        slots = [slots[position] for position in positions]
        gradients.sampled[id(bucket)] = set(positions)
    if samples:
        torch._foreach_copy_(slots, samples)


def _read_norms(gradients: Gradients, place: int, numbers: list[int], values: list[torch.Tensor]) -> None:
    bucket = gradients.plan.buckets[place]
    norms = _norms(values, bucket.dtype)
    if bucket.device.type != "cpu":
        gradients.dense.append((place, numbers, torch.stack(list(norms))))
        return
    host_norms = [norm.item() for norm in norms]
    gradients.dense.append((place, numbers, host_norms))
    if not all(map(isfinite, host_norms)):
        for number, data, norm in zip(numbers, values, host_norms, strict=True):
            if not isfinite(norm):
                gradients.nonfinite[number] = data.numel() - int(data.isfinite().sum())


def _norms(values: list[torch.Tensor], dtype: torch.dtype) -> Sequence[torch.Tensor]:
    """Norms of half precision numbers are taken in full precision."""
    if all(value.dtype is dtype for value in values):
        return torch._foreach_norm(values)
    if _HALF.isdisjoint(value.dtype for value in values):
        return [norm.to(dtype) for norm in torch._foreach_norm(values)]
    return torch._foreach_norm(values, 2, dtype)


def _of_sparse(gradient: torch.Tensor) -> torch.Tensor:
    """Norm, number of elements that are not zero, number of non-finite ones."""
    values = gradient.detach().coalesce().values()
    values = torch.view_as_real(values) if values.is_complex() else values
    wide = values if values.dtype is torch.float64 else values.float()
    bad = values.numel() - values.isfinite().sum()
    return torch.stack([torch.linalg.vector_norm(wide).double(), wide.count_nonzero().double(), bad.double()])


def global_norm(parameters: Iterable[torch.Tensor]) -> torch.Tensor | None:
    """The 2-norm of all gradients, on their device; of sharded ones, of the part in this process."""
    gradients = [gradient for parameter in parameters if (gradient := parameter.grad) is not None]
    if not gradients:
        return None
    graded = torch.is_grad_enabled()
    try:  # not `no_grad`, which a signal handler that raises may leave half done
        torch._C._set_grad_enabled(False)
        if (
            all(_is_usual(gradient) for gradient in gradients)
            and len({gradient.device for gradient in gradients}) == 1
        ):
            norms = torch._foreach_norm(gradients)
            if not gradients[0].is_cpu:
                norm: torch.Tensor = torch.linalg.vector_norm(torch.stack(norms))
                return norm
            # On the host plain numbers are added up faster than tensors are put together.
            squares = sum(value * value for value in [norm.item() for norm in norms])
            return torch.tensor(sqrt(squares), dtype=torch.float32, device="cpu")
        return _norm_of_any(gradients)
    finally:
        torch._C._set_grad_enabled(graded)


def _is_usual(gradient: torch.Tensor) -> bool:
    return (
        type(gradient) is torch.Tensor
        and gradient.dtype is torch.float32
        and gradient.layout is torch.strided
    )


def _norm_of_any(gradients: list[torch.Tensor]) -> torch.Tensor | None:
    norms: list[torch.Tensor] = []
    for gradient in gradients:
        if gradient.layout is torch.sparse_coo:
            norms.append(_of_sparse(gradient)[0])
            continue
        data = plain(gradient)
        if data is not None and data.dtype in READABLE and data.numel():
            wide = None if data.dtype is torch.float64 else torch.float32
            norms.append(torch.linalg.vector_norm(data, dtype=wide))
    if not norms:
        return None
    together = torch.stack([norm.to(norms[0].device, torch.float32) for norm in norms])
    total: torch.Tensor = torch.linalg.vector_norm(together)
    return total
