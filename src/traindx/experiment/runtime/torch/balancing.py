"""How frequent the classes of the training's targets are, and weights that make up for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import torch

from traindx.experiment.runtime.torch.tensors import range_of

if TYPE_CHECKING:
    from traindx.observe.torch.places.losses import LossArguments

_CALLS = 50
_TARGETS = 20_000
_HEAVIEST = 1_000.0


def kind_of(loss: LossArguments) -> str:
    """`classes` for class numbers, `positives` for yes or no; empty for targets that are neither."""
    target: torch.Tensor = loss.target
    if loss.name in ("cross_entropy", "nll_loss"):
        return "" if target.is_floating_point() else "classes"
    if loss.name in ("binary_cross_entropy", "binary_cross_entropy_with_logits"):
        plain = target.detach()
        return "positives" if bool(((plain == 0) | (plain == 1)).all()) else ""
    return ""


class _Counts(ABC):
    """`power` 1 makes up for all of the difference in frequency, 0.5 for its root."""

    def __init__(self, power: float = 1.0) -> None:
        self.power = power
        self.text = ""
        self.heaviest = 1.0
        self.calls = 0
        self._targets_counted = 0

    @property
    def settled(self) -> bool:
        return self.calls >= _CALLS or self._targets_counted >= _TARGETS

    def add(self, loss: LossArguments) -> None:
        if not self.settled:
            self.calls += 1
            self._targets_counted += loss.target.numel()
            self._count(loss)

    @abstractmethod
    def weigh(self, loss: LossArguments) -> str:
        """Give the loss its weights, and say which."""

    @abstractmethod
    def _count(self, loss: LossArguments) -> None: ...


class Classes(_Counts):
    """Of class numbers; a class not seen yet counts as seen once."""

    def __init__(self, power: float = 1.0) -> None:
        super().__init__(power)
        self._counts = torch.zeros(0)

    def _count(self, loss: LossArguments) -> None:
        classes = loss.input.shape[1 if loss.input.dim() > 1 else 0]
        target = loss.target.detach().flatten()
        target = target[(target != loss.given.get("ignore_index", -100)) & (target >= 0) & (target < classes)]
        counts = torch.bincount(target, minlength=classes).float()
        self._counts = counts if len(self._counts) != classes else self._counts + counts

    def weigh(self, loss: LossArguments) -> str:
        counts = self._counts.clamp(min=1)
        weight = (counts.sum() / (len(counts) * counts)).clamp(max=_HEAVIEST) ** self.power
        loss.given["weight"] = weight.to(loss.input)
        totals = self._counts.int().tolist()
        low, high = float(weight.min()), float(weight.max())
        self.heaviest = high / low
        self.text = f"classes seen {_short(totals)} times weigh {low:.3g} to {high:.3g} in {loss.name}"
        return self.text


class Positives(_Counts):
    """Of yes and no, column by column."""

    def __init__(self, power: float = 1.0) -> None:
        super().__init__(power)
        self._positives = self._totals = torch.zeros(())

    def _count(self, loss: LossArguments) -> None:
        target = loss.target.detach().float()
        columns = target.reshape(-1, target.shape[-1]) if target.dim() > 1 else target.reshape(-1, 1)
        fits = self._positives.shape == columns.shape[1:]
        self._positives = columns.sum(0) + (self._positives if fits else 0)
        self._totals = torch.full_like(self._positives, len(columns)) + (self._totals if fits else 0)

    def weigh(self, loss: LossArguments) -> str:
        heavier = ((self._totals - self._positives).clamp(min=1) / self._positives.clamp(min=1)).clamp(
            max=_HEAVIEST
        )
        heavier = heavier**self.power
        weight = heavier.to(loss.input)
        if loss.name == "binary_cross_entropy_with_logits":
            loss.given["pos_weight"] = weight
        else:
            loss.given["weight"] = torch.where(loss.target > 0.5, weight, torch.ones_like(weight))
        self.heaviest = float(torch.maximum(heavier, 1 / heavier).max())
        shares = (self._positives / self._totals).tolist()
        self.text = f"positives ({_share(shares)} of the targets) weigh {range_of(heavier)} in {loss.name}"
        return self.text


def _short(counts: list[int]) -> str:
    return ", ".join(map(str, counts)) if len(counts) <= 10 else f"{min(counts)} to {max(counts)}"


def _share(shares: list[float]) -> str:
    low, high = min(shares), max(shares)
    return f"{low:.1%}" if low == high else f"{low:.1%} to {high:.1%}"
