"""Whether the output of one sample depends on the inputs of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from traindx.experiment.runtime.torch.labels import is_input
from traindx.experiment.runtime.torch.measuring.model import RepeatableCall
from traindx.experiment.runtime.torch.streams import Streams
from traindx.experiment.runtime.torch.tensors import tensors_in
from traindx.observe.torch.places.models import mapped

if TYPE_CHECKING:
    from traindx.experiment.runtime.torch.measuring.first_step import FirstStep


_ROUNDING = 1e-5


def measured(first: FirstStep) -> dict[str, Any]:
    """The largest dependence beside that on the sample's own input, in both modes."""
    model = first.model
    batch, certain = _batch(first, model)
    numbers: dict[str, Any] = {"batch": batch, "certain": certain, "batch_norm": model.batch_norms()}
    floats = [
        tensor
        for name, tensor in tensors_in(model.args)
        if tensor.is_floating_point() and _rows(tensor, batch)
    ]
    measure = _by_gradient if floats else _by_exchange
    numbers["how"] = "gradient" if floats else "exchange"
    numbers["leak_eval"] = measure(model, batch, training=False)
    numbers["leak_train"] = measure(model, batch, training=True)
    return numbers


def _batch(first: FirstStep, model: RepeatableCall) -> tuple[int, bool]:
    """How many samples the batch has, and whether a loader says so."""
    from traindx.experiment.runtime.torch.measuring.first_step import Unmeasured

    if model.kwargs:
        raise Unmeasured("the model is called by keywords")
    inputs = [tensor for name, tensor in tensors_in(model.args) if is_input(name, tensor) and tensor.dim()]
    if not inputs:
        raise Unmeasured("the model is given no tensor")
    rows = inputs[0].shape[0]
    if rows < 2:
        raise Unmeasured("the batch holds one sample")
    if any(tensor.shape[0] != rows for tensor in inputs):
        raise Unmeasured("the inputs of the model differ in their first dimension")
    if first.batch_size is not None and first.batch_size != rows:
        raise Unmeasured(f"the batch has {first.batch_size} samples, the model's first dimension {rows}")
    return rows, first.batch_size == rows


def _samples(batch: int) -> tuple[int, ...]:
    """The first, one within, the last: a recurrent layer over the samples shows at the later ones only."""
    return tuple(dict.fromkeys((0, batch // 2, batch - 1)))


def _rows(tensor: torch.Tensor, batch: int) -> bool:
    return tensor.dim() > 0 and tensor.shape[0] == batch


def _output(model: RepeatableCall, args: Any, batch: int, training: bool) -> torch.Tensor:
    from traindx.experiment.runtime.torch.measuring.first_step import Unmeasured

    output = model.again(args, training=training)
    if not _rows(output, batch):
        raise Unmeasured(f"the output has not one row for each of the {batch} samples")
    return output


def _by_gradient(model: RepeatableCall, batch: int, *, training: bool) -> float:
    """The gradient of a sample's output, weighed at random, with respect to all inputs."""
    leaves: list[torch.Tensor] = []

    def leaf(name: str, tensor: torch.Tensor) -> torch.Tensor:
        del name
        if not tensor.is_floating_point() or not _rows(tensor, batch):
            return tensor
        leaves.append(tensor.detach().clone().requires_grad_())
        return leaves[-1]

    with torch.enable_grad():
        output = _output(model, mapped(model.args, "", leaf), batch, training)
        if not output.requires_grad:
            return 0.0
        weights = _weights(output[0])
        worst = 0.0
        for sample in _samples(batch):
            gradients = torch.autograd.grad(
                (output[sample] * weights).sum(), leaves, retain_graph=True, allow_unused=True
            )
            worst = max(worst, _share(gradients, sample))
    return worst


def _share(gradients: Any, sample: int) -> float:
    own = others = 0.0
    for gradient in gradients:
        if gradient is not None:
            size = (
                gradient.detach().double().flatten(1).norm(dim=1)
                if gradient.dim() > 1
                else gradient.detach().double().abs()
            )
            own += float(size[sample]) ** 2
            others += float((size**2).sum()) - float(size[sample]) ** 2
    own, others = own**0.5, max(others, 0.0) ** 0.5
    return others / own if own > 0 else (1.0 if others > 0 else 0.0)


def _by_exchange(model: RepeatableCall, batch: int, *, training: bool) -> float:
    """How much one sample's output changes when the others change places, beside a change of its own."""
    streams = Streams()
    streams.save()

    def with_rows(order: torch.Tensor) -> torch.Tensor:
        def shifted(name: str, tensor: torch.Tensor) -> torch.Tensor:
            del name
            return tensor[order.to(tensor.device)] if _rows(tensor, batch) else tensor

        streams.restore()
        with torch.no_grad():
            return _output(model, mapped(model.args, "", shifted), batch, training).double()

    as_it_is = torch.arange(batch)
    output, worst = with_rows(as_it_is), 0.0
    for sample in _samples(batch):
        shuffled = torch.roll(as_it_is, 1)
        shuffled[shuffled == sample] = (sample + 1) % batch
        shuffled[sample] = sample
        exchanged = as_it_is.clone()
        exchanged[sample] = (sample + batch // 2) % batch
        change_by_others = float((with_rows(shuffled)[sample] - output[sample]).norm())
        own_change = float((with_rows(exchanged)[sample] - output[sample]).norm())
        if change_by_others > _ROUNDING * max(float(output[sample].norm()), 1e-12):
            worst = max(worst, change_by_others / max(own_change, 1e-12))
    return worst


def _weights(row: torch.Tensor) -> torch.Tensor:
    """Fixed, of mixed signs: a plain sum is a constant after softmax."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(row.shape, generator=generator)
    return noise.to(device=row.device, dtype=row.dtype)
