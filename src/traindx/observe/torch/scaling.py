"""`GradScaler`: the loss behind the scaled one, the scale, and steps it skipped."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching


class LossScaling:
    """What the scaler of this training last did."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self._scaled: weakref.ref[torch.Tensor] | None = None
        self._plain: torch.Tensor | None = None
        self.unscaled_gradients = False
        self.inside = False
        self._scaled_now = self._reported = False

    def unscaled(self, tensor: Any) -> Any:
        """The loss that was scaled into this tensor, or the tensor itself."""
        if self._scaled is None or self._scaled() is not tensor:
            return tensor
        plain, self._plain, self._scaled = self._plain, None, None
        return plain

    def scaled(self, result: Any, scaler: Any, outputs: Any) -> None:
        if not scaler.is_enabled():
            return
        if isinstance(outputs, torch.Tensor) and isinstance(result, torch.Tensor) and result is not outputs:
            self._plain, self._scaled = outputs.detach(), weakref.ref(result)
            self._scaled_now = True
            self.scale(scaler)

    def stepping(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is about to step: on scaled gradients, unless the scaler does it or has unscaled."""
        scale, scaled = self.watching.steps.loss_scale, self._scaled_now
        self._scaled_now = False
        handled = self.inside or self.unscaled_gradients or getattr(optimizer, "grad_scale", None) is not None
        if scaled and not (handled or self._reported) and scale not in (None, 1.0):
            self._reported = True
            text = f"the optimizer stepped on gradients that are scaled by {scale:g}"
            self.watching.recorder.event("step_on_scaled_gradients", text, {"scale": scale})

    def unscales(self, *_: Any, **__: Any) -> None:
        """Before clipping, mostly."""
        self.unscaled_gradients = True

    def step(self, _: Any, optimizer: Any, *__: Any, **___: Any) -> Callable[[bool], None]:
        """A scaler lets an optimizer step, unless gradients overflowed."""
        watching, optimizers = self.watching, self.watching.steps.optimizers
        steps_before = optimizers.steps_of(optimizer)
        self.inside = True

        def end(done: bool) -> None:
            self.inside = False
            if not done:
                return
            if watching.active and optimizers.steps_of(optimizer) == steps_before and watching.mine():
                watching.guard("steps", watching.steps.skipped_step, optimizer)
            self.unscaled_gradients = False

        return end

    def scale(self, scaler: Any) -> None:
        """The present scale; not read from a device, which would wait."""
        tensor = getattr(scaler, "_scale", None)
        if tensor is None:
            self.watching.steps.loss_scale = float(getattr(scaler, "_init_scale", 1.0))
        elif tensor.device.type == "cpu":
            self.watching.steps.loss_scale = float(tensor)
