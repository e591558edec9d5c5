"""Passes over a few batches: gradients batch by batch, activations, the loss of each sample and class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any

import torch
from torch import nn

from traindx.checkup.model.keras_layers import layers_seen, named_parameters
from traindx.checkup.model.objects import LabelledBatch, loss_on
from traindx.observe.torch.kinds import activation_shape, is_layer

_HARDEST = 20


class OutputHooks:
    """Hooks on activations and layers with weights, for as long as it is entered."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._handles: list[Any] = []
        self._keras = layers_seen(model, self._saw)
        self.samples: dict[str, list[dict[str, float]]] = {}
        self._alive: dict[str, torch.Tensor] = {}

    def __enter__(self) -> OutputHooks:
        self._keras.__enter__()
        for name, module in self._model.named_modules():
            shape = activation_shape(module)
            if (shape is not None or is_layer(module)) and not isinstance(module, torch.jit.ScriptModule):
                self._handles.append(module.register_forward_hook(self._hook(name or "model", shape)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._handles:
            handle.remove()
        self._keras.__exit__(kind, error, trace)

    def _hook(self, name: str, shape: Any) -> Callable[..., None]:
        def measure(module: nn.Module, inputs: Any, output: Any) -> None:
            del module, inputs
            self._saw(name, shape, output)

        return measure

    def _saw(self, name: str, shape: Any, output: Any) -> None:
        output = output[0] if isinstance(output, tuple) else output
        if isinstance(output, torch.Tensor) and output.is_floating_point() and output.numel():
            self._measure(name, shape, output.detach().float())

    def _measure(self, name: str, shape: Any, values: torch.Tensor) -> None:
        low, high = (float(value) for value in values.aminmax())
        sample = {
            "mean": float(values.mean()), "std": float(values.std(unbiased=False)), "min": low, "max": high,
            "zero_share": float((values == 0).float().mean()),
        }  # fmt: skip
        if shape is not None and shape.zero is not None and values.dim() > 1:
            units = (
                values.flatten(2).transpose(1, 2).flatten(0, 1) if values.dim() > 3 else values.flatten(0, -2)
            )
            alive = (units.abs() > shape.zero).any(0)
            alive_before = self._alive.get(name)
            self._alive[name] = (
                alive if alive_before is None or alive_before.shape != alive.shape else alive_before | alive
            )
        if shape is not None and shape.saturates:
            sample["flat_share"] = float(((values <= shape.low) | (values >= shape.high)).float().mean())
        self.samples.setdefault(name, []).append(sample)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The means over all calls of each layer."""
        for name, samples in self.samples.items():
            row: dict[str, Any] = {"name": name}
            for key in samples[0]:
                row[key] = sum(sample[key] for sample in samples) / len(samples)
            if name in self._alive:
                row["dead_share"] = 1.0 - float(self._alive[name].float().mean())
            yield row


def set_mode(model: nn.Module, *, training: bool) -> None:
    """For training or for use; a model of torch.export has the mode it was exported in."""
    with suppress(NotImplementedError):
        model.train(training)


class GradientSums:
    """Gradients of several batches: the norm of each, their mean, and from both how noisy they are."""

    def __init__(self, model: nn.Module) -> None:
        parameters = named_parameters(model)
        self.names, self.parameters = (
            [name for name, _ in parameters],
            [parameter for _, parameter in parameters],
        )
        self.norms: list[list[float]] = []
        self._sums: list[torch.Tensor | None] = [None] * len(parameters)
        self._squares = [0.0] * len(parameters)
        self.zeros = [0.0] * len(parameters)

    @property
    def reached(self) -> list[bool]:
        return [total is not None for total in self._sums]

    def add(self, loss: Any) -> None:
        """The gradients of one loss, each taken as soon as it is there: they never exist all at once."""
        norms = [math.nan] * len(self.parameters)

        def take(at: int, parameter: torch.Tensor) -> None:
            gradient, parameter.grad = parameter.grad, None
            assert gradient is not None
            norms[at] = float(gradient.norm())
            self._squares[at] += norms[at] ** 2
            self.zeros[at] += 1.0 - int(gradient.count_nonzero()) / max(1, gradient.numel())
            total = self._sums[at]
            self._sums[at] = gradient if total is None else total.add_(gradient)

        for parameter in self.parameters:
            parameter.grad = None
        hooks = [
            parameter.register_post_accumulate_grad_hook(partial(take, at))
            for at, parameter in enumerate(self.parameters)
        ]
        try:
            loss.backward()
        finally:
            for hook in hooks:
                hook.remove()
        self.norms.append(norms)

    def rows(self) -> list[dict[str, Any]]:
        """Norm of the mean gradient, its share of exact zeros, and its signal-to-noise ratio."""
        count = len(self.norms)
        rows: list[dict[str, Any]] = []
        for at, name in enumerate(self.names):
            total = self._sums[at]
            row: dict[str, Any] = {"name": name, "reached": total is not None}
            if total is not None:
                norm, weight = float(total.norm()) / count, float(self.parameters[at].detach().norm())
                low, high = (float(value) / count for value in total.aminmax())
                row |= {
                    "norm": math.sqrt(self._squares[at] / count),
                    "mean": float(total.mean()) / count,
                    "std": float(total.std(unbiased=False)) / count,
                    "min": low,
                    "max": high,
                    "zero_share": self.zeros[at] / count,
                    "weight_norm": weight,
                }
                noise = self._squares[at] / count - norm * norm
                if count > 2 and noise > 0:
                    row["signal_to_noise"] = math.sqrt(norm * norm / noise)
            rows.append(row)
        return rows

    def noise_scale(self, batch: int) -> float | None:
        """The batch size at which noise and signal of the gradient are equal (McCandlish et al., 2018)."""
        count = len(self.norms)
        sums = [total for total in self._sums if total is not None]
        if count < 4 or not sums:
            return None
        mean_square = sum((float(total.norm()) / count) ** 2 for total in sums)
        square = sum(self._squares) / count
        signal = (count * mean_square - square) / (count - 1)
        noise = batch * (square - mean_square) * count / (count - 1)
        return noise / signal if signal > 0 and noise > 0 else None


def loss_facts(output: Any, target: Any, loss_fn: Any) -> dict[str, Any]:
    """The loss as a recording has it: which function, of which shapes, and what its outputs come out of."""
    name = getattr(loss_fn, "__name__", type(loss_fn).__name__)
    fact: dict[str, Any] = {"function": name}
    if not torch.is_tensor(output) or not torch.is_tensor(target):
        return fact
    output, shapes = output.detach(), [tuple(output.shape), tuple(target.shape)]
    elementwise = (
        not hasattr(loss_fn, "shapes_targets") and target.is_floating_point() and shapes[0] != shapes[1]
    )
    fact |= {"output_shape": "x".join(map(str, shapes[0])), "target_shape": "x".join(map(str, shapes[1]))}
    if elementwise:
        try:
            table = torch.broadcast_shapes(*shapes)  # type: ignore[no-untyped-call]
        except RuntimeError:
            return fact
        fact |= {"broadcasts": True, "broadcast_shape": "x".join(map(str, table))}
    if output.dim() == 2 and output.shape[1] > 1 and output.is_floating_point():
        sums = output.sum(1)
        if float(output.min()) >= 0 and float((sums - 1).abs().max()) < 1e-4:
            fact["after_layers"] = ["Softmax"]
    return fact


def sample_losses(
    model: nn.Module, batches: Sequence[LabelledBatch], loss_fn: Callable[[Any, Any], Any] | None
) -> list[dict[str, Any]]:
    """The loss of every sample, where the loss can be asked for it; empty otherwise."""
    single = _without_reduction(loss_fn)
    rows: list[dict[str, Any]] = []
    if single is None:
        return rows
    at = 0
    for batch in batches:
        with torch.no_grad():
            losses = loss_on(model, batch, single)[1]
        losses = losses.reshape(losses.shape[0], -1).mean(1) if losses.dim() else losses.reshape(1)
        has_classes = (
            torch.is_tensor(batch.target) and batch.target.dim() == 1 and not batch.target.is_floating_point()
        )
        for row, value in enumerate(losses.tolist()):
            target = {"target": int(batch.target[row])} if has_classes else {}
            rows.append({"index": at + row, "loss": value, **target})
        at += batch.rows
    return rows


def _without_reduction(loss_fn: Any) -> Any:
    import copy
    import inspect

    if isinstance(loss_fn, nn.Module) and hasattr(loss_fn, "reduction"):
        unreduced: Any = copy.copy(loss_fn)
        unreduced.reduction = "none"
        return unreduced
    try:
        takes_reduction = loss_fn is not None and "reduction" in inspect.signature(loss_fn).parameters
    except (TypeError, ValueError):
        takes_reduction = False
    return (lambda output, target: loss_fn(output, target, reduction="none")) if takes_reduction else None


def by_class(samples: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Samples and mean loss of each class."""
    classes = sorted({row["target"] for row in samples if "target" in row})
    rows = []
    for label in classes[:100]:
        losses = [row["loss"] for row in samples if row.get("target") == label]
        rows.append({"class": label, "samples": len(losses), "loss": sum(losses) / len(losses)})
    return rows


def hardest(samples: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The samples of the highest loss, with their place in the order of the loader."""
    return sorted(samples, key=lambda row: -row["loss"] if row["loss"] == row["loss"] else -math.inf)[
        :_HARDEST
    ]


def sensitivity(
    model: nn.Module, batch: LabelledBatch, loss_fn: Callable[[Any, Any], Any] | None
) -> list[dict[str, Any]]:
    """How much the loss changes with each input feature, in units of the feature's spread."""
    first = batch.arguments[0] if batch.arguments else None
    if not torch.is_tensor(first) or not first.is_floating_point() or first.dim() != 2:
        return []
    inputs = first.detach().clone().requires_grad_(True)
    moved = LabelledBatch((inputs, *batch.arguments[1:]), batch.keywords, batch.target)
    gradient = torch.autograd.grad(loss_on(model, moved, loss_fn)[1], inputs, allow_unused=True)[0]
    if gradient is None:
        return []
    sizes = (gradient.abs().mean(0) * first.std(0, unbiased=False)).tolist()
    total = sum(sizes) or 1.0
    return [{"feature": at, "share": size / total} for at, size in enumerate(sizes[:1000])]
