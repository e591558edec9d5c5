"""A range test on a model in this process: nothing is left changed."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from traindx.experiment.runtime.snapshot import seed, state_kept, streams

if TYPE_CHECKING:
    import torch
    from torch import nn

# Beyond this many times its start the loss has diverged for good when it stays there.
_FAR = 20.0
_FAR_STEPS = 5


@dataclass
class Ramped:
    """The losses of each optimizer step, and those of the same batches under the first weights."""

    losses: list[float] = field(default_factory=list)
    controls: list[float] = field(default_factory=list)

    @property
    def diverged(self) -> bool:
        last = self.losses[-_FAR_STEPS:]
        if not last or not math.isfinite(last[-1]):
            return bool(last)
        start = sorted(self.losses[:_FAR_STEPS])[len(self.losses[:_FAR_STEPS]) // 2]
        return len(self.losses) > 2 * _FAR_STEPS and min(last) > _FAR * abs(start)


@dataclass
class LiveTraining:
    """What trains: `compute(model, batch)` gives the loss, `accumulate` batches make a step."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    loader: Any
    compute: Callable[[nn.Module, Any], torch.Tensor]
    accumulate: int = 1

    def base_rates(self) -> list[float]:
        """The rate of each group as it was made; a schedule may stand elsewhere by now."""
        return [
            float(group.get("max_lr") or group.get("initial_lr") or group["lr"])
            for group in self.optimizer.param_groups
        ]

    def ramp(self, rates: Sequence[float], number: int) -> Ramped:
        """Train with these rates of the leading group; the others keep their ratio to it."""
        with state_kept(self.model, self.optimizer, self.loader):
            seed(number, self.loader)
            self.model.train()
            return self._ramp(rates)

    def _ramp(self, rates: Sequence[float]) -> Ramped:
        bases = self.base_rates()
        lead = next((rate for rate in bases if rate > 0), 1.0)
        frozen, ramped = _copied(self.model), Ramped()
        batches = endless(self.loader)
        for rate in rates:
            together = [next(batches) for _ in range(self.accumulate)]
            if frozen is not None:
                ramped.controls.append(self._frozen_loss(frozen, together))
            for group, base in zip(self.optimizer.param_groups, bases, strict=True):
                _set(group, rate * base / lead if base > 0 else 0.0)
            ramped.losses.append(self._step(together))
            if ramped.diverged:
                break
        return ramped

    def _step(self, batches: Sequence[Any]) -> float:
        import torch

        first: list[float] = []

        def closure() -> float:
            self.optimizer.zero_grad()
            total = 0.0
            for batch in batches:
                loss = self.compute(self.model, batch) / len(batches)
                loss.backward()  # type: ignore[no-untyped-call]
                total += float(loss.detach())
            first.append(total)
            return total

        if isinstance(self.optimizer, torch.optim.LBFGS):
            self.optimizer.step(closure)  # type: ignore[no-untyped-call]
        else:
            closure()
            self.optimizer.step()
        return first[0]

    def _frozen_loss(self, frozen: nn.Module, batches: Sequence[Any]) -> float:
        import torch

        with streams(), torch.no_grad():
            return sum(float(self.compute(frozen, batch)) for batch in batches) / len(batches)


def endless(loader: Any) -> Iterator[Any]:
    """Batches, epoch after epoch."""
    while True:
        empty = True
        for batch in loader:
            empty = False
            yield batch
        if empty:
            raise ValueError("the loader gives no batches (any more): give one that can be iterated again.")


def loss_of(loss_fn: Callable[..., torch.Tensor] | None) -> Callable[[nn.Module, Any], torch.Tensor]:
    """How a batch becomes a loss: `loss_fn(model(inputs), targets)`, or what the model itself tells."""

    def compute(model: nn.Module, batch: Any) -> torch.Tensor:
        batch = _on_device_of(batch, model)
        if isinstance(batch, Mapping):
            output = model(**batch)
            return _own_loss(output) if loss_fn is None else loss_fn(output, batch)
        if loss_fn is None:
            return _own_loss(model(*batch) if isinstance(batch, tuple | list) else model(batch))
        if not isinstance(batch, tuple | list) or len(batch) < 2:
            raise ValueError(
                "a batch must be (inputs, targets); for others give compute=lambda model, batch: the loss."
            )
        *inputs, targets = batch
        return loss_fn(model(*inputs), targets)

    return compute


def _own_loss(output: Any) -> torch.Tensor:
    loss = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", output)
    if loss is None or not hasattr(loss, "backward"):
        raise ValueError("the model gives no loss by itself: give a loss_fn.")
    return loss  # type: ignore[no-any-return]


def _on_device_of(batch: Any, model: nn.Module) -> Any:
    """The batch where the model is."""
    device = next((parameter.device for parameter in model.parameters()), None)
    if isinstance(batch, Mapping):
        return {name: _on_device_of(value, model) for name, value in batch.items()}
    if isinstance(batch, tuple | list):
        return (
            type(batch)([_on_device_of(value, model) for value in batch])
            if type(batch) in (tuple, list)
            else batch
        )
    return batch.to(device) if hasattr(batch, "to") and device is not None else batch


def _copied(model: nn.Module) -> nn.Module | None:
    """The model as it is now; None where it cannot be copied."""
    try:
        return copy.deepcopy(model)
    except Exception:
        return None


def _set(group: dict[str, Any], rate: float) -> None:
    import torch

    lr = group["lr"]
    group["lr"] = torch.full_like(lr, rate) if isinstance(lr, torch.Tensor) else rate
