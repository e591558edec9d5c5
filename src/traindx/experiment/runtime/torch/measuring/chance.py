"""The first loss, next to the loss of predictions that ignore the input, and to its lower bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from traindx.experiment.runtime.torch.tensors import tensors_in

if TYPE_CHECKING:
    from traindx.experiment.runtime.torch.measuring.first_step import FirstStep
    from traindx.observe.torch.places.losses import LossArguments

_TINY = 1e-6
_REAL = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_SAME_SHAPE = (*_REAL, "binary_cross_entropy", "binary_cross_entropy_with_logits")
_CALLS_MOST = 8


def measured(first: FirstStep) -> dict[str, Any]:
    """Of each loss function: its value, that of equal odds (or zeros) and of the best constant, the floor."""
    from traindx.experiment.runtime.torch.measuring.first_step import Unmeasured

    if not first.losses:
        raise Unmeasured("none of torch's loss functions was called before the first backward pass")
    total = sum(float(tensor.detach().double().sum()) for tensor in first.backward_on)
    return {
        "calls": [_loss_and_chance(first, loss) for loss in first.losses[:_CALLS_MOST]],
        "backward": total,
    }


def _loss_and_chance(first: FirstStep, loss: LossArguments) -> dict[str, Any]:
    reduction = loss.given.get("reduction", "mean")
    numbers: dict[str, Any] = {
        "function": loss.name,
        "value": _value(loss, loss.input),
        "reduction": reduction,
    }
    answers = _ANSWERS.get(loss.name)
    if answers is None or reduction == "none" or loss.target.requires_grad:
        return numbers | {"why": "what chance gives for this loss is not known"}
    if loss.input.shape[:1] != loss.target.shape[:1] or (
        loss.name in _SAME_SHAPE and loss.input.shape != loss.target.shape
    ):
        return numbers | {"why": "output and target differ in shape"}
    even, best = answers(loss)
    numbers["even"], numbers["constant"] = _value(loss, even), _value(loss, best)
    numbers["floor"] = _floor(first, loss)
    return numbers


def _value(loss: LossArguments, answer: torch.Tensor) -> float:
    with torch.no_grad():
        arguments = {**loss.given, "input": answer.detach()}
        return float(getattr(functional, loss.name)(**arguments).double().sum())


def _shares(loss: LossArguments) -> torch.Tensor:
    """The targets as shares of classes: one row for each place, classes last."""
    logits, target = loss.input, loss.target
    classes = logits.shape[1] if logits.dim() > 1 else logits.shape[0]
    if target.is_floating_point():
        shares: torch.Tensor = target.movedim(1, -1) if target.dim() > 1 else target
        return shares
    ignored = target == loss.given.get("ignore_index", -100)
    hot = functional.one_hot(target.masked_fill(ignored, 0), classes).to(torch.float32)
    hot[ignored] = 0.0
    smoothing = float(loss.given.get("label_smoothing", 0.0) or 0.0)
    return hot * (1 - smoothing) + smoothing / classes if smoothing else hot


def _as_logits(loss: LossArguments, shares: torch.Tensor) -> torch.Tensor:
    """Shares as the logs that a loss of classes takes, in the shape of its input."""
    logs = shares.clamp_min(_TINY**2).log()
    placed = logs.movedim(-1, 1) if loss.input.dim() > 1 else logs
    return placed.expand(loss.input.shape).to(loss.input.dtype)


def _classes(loss: LossArguments) -> tuple[torch.Tensor, torch.Tensor]:
    shares = _shares(loss)
    counts = shares.reshape(-1, shares.shape[-1]).sum(0)
    frequencies = counts / counts.sum().clamp_min(_TINY)
    even = torch.full_like(frequencies, 1.0 / frequencies.numel())
    shape = [*shares.shape[:-1], frequencies.numel()]
    return _as_logits(loss, even.expand(shape)), _as_logits(loss, frequencies.clamp_min(_TINY).expand(shape))


def _odds(loss: LossArguments) -> tuple[torch.Tensor, torch.Tensor]:
    mean = loss.target.float().mean(0, keepdim=True).expand(loss.target.shape).clamp(_TINY, 1 - _TINY)
    best = mean.logit() if loss.name.endswith("logits") else mean
    even = torch.zeros_like(loss.input) if loss.name.endswith("logits") else torch.full_like(loss.input, 0.5)
    return even, best.to(loss.input.dtype)


def _reals(loss: LossArguments) -> tuple[torch.Tensor, torch.Tensor]:
    target = loss.target.float()
    middle = target.median(0, keepdim=True).values if loss.name == "l1_loss" else target.mean(0, keepdim=True)
    return torch.zeros_like(loss.input), middle.expand(loss.input.shape).to(loss.input.dtype)


_ANSWERS: dict[str, Callable[[LossArguments], tuple[torch.Tensor, torch.Tensor]]] = {
    "cross_entropy": _classes,
    "nll_loss": _classes,
    "binary_cross_entropy": _odds,
    "binary_cross_entropy_with_logits": _odds,
    **dict.fromkeys(_REAL, _reals),
}


def _floor(first: FirstStep, loss: LossArguments) -> float | None:
    """The loss of the best answers that are equal for equal inputs."""
    groups = _groups(first, loss.target.shape[0])
    if loss.name in ("cross_entropy", "nll_loss"):
        return _value(loss, _as_logits(loss, _within(_shares(loss), groups)))
    best = _within(loss.target.float(), groups)
    if loss.name.endswith("logits"):
        best = best.clamp(_TINY, 1 - _TINY).logit()
    return _value(loss, best.reshape(loss.input.shape).to(loss.input.dtype))


def _within(values: torch.Tensor, groups: torch.Tensor | None) -> torch.Tensor:
    """Each row's values as the mean over the rows of its group."""
    if groups is None:
        return values
    count = int(groups.max()) + 1
    sums = torch.zeros((count, *values.shape[1:]), dtype=values.dtype).index_add_(0, groups, values.cpu())
    sizes = torch.bincount(groups, minlength=count).reshape(-1, *[1] * (values.dim() - 1))
    return (sums / sizes)[groups].to(values.device)


def _groups(first: FirstStep, rows: int) -> torch.Tensor | None:
    """Numbers of groups of samples with the same inputs; None where all differ, or it is not known."""
    if not first.models:
        return None
    parts = [tensor for _, tensor in tensors_in(first.model.args) if tensor.dim() and tensor.shape[0] == rows]
    if not parts:
        return None
    flat = torch.cat([part.detach().reshape(rows, -1).double().cpu() for part in parts], dim=1)
    groups = torch.unique(flat, dim=0, return_inverse=True)[1]
    return groups if int(groups.max()) + 1 < rows else None
