"""The loss scaled for the backward pass, and its gradients unscaled right after it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from traindx.experiment.runtime.rate_groups import drop_gradients, with_gradients

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import Hooks

_GROWTH_STEPS = 2_000


class ScaledBackward:
    """`needed` where autocast computes in float16, `present` where the script scales the loss itself."""

    def __init__(self, hooks: Hooks, scale: float) -> None:
        self.needed = self.present = False
        self._hooks = hooks
        self._scale = scale
        self._good_steps = 0
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def _on(self) -> bool:
        return self.needed and not self.present

    def optimizer_made(self, optimizer: Any, arguments: object) -> None:
        del arguments
        self._optimizers.add(optimizer)

    def before_backward(self, losses: tuple[torch.Tensor, ...]) -> None:
        """The gradient that a backward pass starts from is the scale; what is accumulated already follows."""
        if not self._on:
            return
        scale = self._scale
        for loss in losses:
            if loss.requires_grad:
                loss.register_hook(lambda gradient: gradient * scale)  # type: ignore[no-untyped-call]
        self._multiply(scale)
        self._hooks.changed(f"the loss is scaled by {scale:g} for the backward pass")

    def after_backward(self) -> None:
        if self._on:
            self._multiply(1 / self._scale)

    def before_step(self, optimizer: Any) -> None:
        """A step on gradients that are not finite is left out."""
        gradients = list(self._gradients([optimizer]))
        if not self._on or not gradients:
            return
        if all(bool(torch.isfinite(gradient).all()) for gradient in gradients):
            self._good_steps += 1
            if self._good_steps % _GROWTH_STEPS == 0:
                self._scale *= 2
            return
        self._good_steps = 0
        self._scale /= 2
        self._hooks.changed("steps with gradients that are not finite are left out")
        drop_gradients(optimizer)

    def _multiply(self, factor: float) -> None:
        for gradient in self._gradients(self._optimizers):
            gradient.mul_(factor)

    @staticmethod
    def _gradients(optimizers: Any) -> Iterator[torch.Tensor]:
        for optimizer in optimizers:
            yield from (parameter.grad for parameter in with_gradients(optimizer))
