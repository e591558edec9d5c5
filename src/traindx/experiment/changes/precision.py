"""The precision of the arithmetic."""

from __future__ import annotations

import contextlib
from typing import Any

from traindx.experiment.runtime.hooks import Hooks, change


@change(knobs=("precision",))
def bf16_autocast(hooks: Hooks) -> None:
    """Compute in bfloat16 where autocast can, without loss scaling.

    The script's own autocast becomes one to bfloat16 and its `GradScaler` is switched off. A script without
    autocast has every outermost call of its models run under it, and gets their results in 32 bits.

    Out of reach: models whose weights are in half precision.
    """
    import torch

    from traindx.observe.torch.places.models import mapped

    def autocast(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if not self._enabled:
            return
        if self.fast_dtype is torch.bfloat16:
            hooks.otherwise("autocast to bfloat16 is in use already")
        else:
            hooks.changed(f"autocast to {_name(self.fast_dtype)} -> bfloat16")
            self.fast_dtype = torch.bfloat16

    def around(root: Any) -> Any:
        device = next(root.parameters()).device.type
        if torch.is_autocast_enabled(device):
            return contextlib.nullcontext()
        hooks.changed(f"{type(root).__name__} runs under autocast to bfloat16")
        with hooks.aside():
            return torch.autocast(device, dtype=torch.bfloat16)

    def widened(output: Any, root: Any) -> Any:
        if torch.is_autocast_enabled(next(root.parameters()).device.type):
            return output
        return mapped(
            output, "", lambda _, tensor: tensor.float() if tensor.dtype is torch.bfloat16 else tensor
        )

    hooks.otherwise("no module with parameters was called")
    hooks.function("autocast.__init__", autocast)
    _switch_scaling_off(hooks)
    hooks.around_model(around)
    hooks.after_model_call(widened)


@change(knobs=("precision",))
def full_precision(hooks: Hooks) -> None:
    """Compute everything in 32 bits: no autocast, no loss scaling, no half-precision weights.

    Autocast and `GradScaler` are switched off, and `half()`, `bfloat16()` and `to(...)` keep 32 bits.

    Out of reach: tensors that are made in half precision (`torch.zeros(..., dtype=torch.float16)`), and
    models loaded in it.
    """
    import torch

    def widened(value: Any) -> Any:
        half = value is torch.float16 or value is torch.bfloat16
        return torch.float32 if half else value

    def autocast(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if self._enabled:
            self._enabled = False
            hooks.changed(f"autocast to {_name(self.fast_dtype)} is off")

    def halved(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        del original
        hooks.changed("half() and bfloat16() keep 32 bits")
        return self.float(*args, **kwargs)

    def to(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        wide = (
            tuple(widened(argument) for argument in args),
            {key: widened(argument) for key, argument in kwargs.items()},
        )
        if wide != (args, kwargs):
            hooks.changed("to(...) a half precision keeps 32 bits")
        return original(self, *wide[0], **wide[1])

    hooks.otherwise("the training used neither autocast nor half-precision weights")
    hooks.function("autocast.__init__", autocast)
    _switch_scaling_off(hooks)
    for owner in ("Module", "Tensor"):
        for name in ("half", "bfloat16"):
            hooks.function(f"{owner}.{name}", halved)
        hooks.function(f"{owner}.to", to)


@change(knobs=("precision",), above={"scale": 1})
def scale_loss(hooks: Hooks, *, scale: float = 65536.0) -> None:
    """Scale the loss of a training in float16, as a `GradScaler` does.

    Gradients are computed of `scale` times the loss and divided by it right after the backward pass, so that
    small ones do not become 0 in float16. A step whose gradients are not finite is left out and the scale is
    halved; it is doubled after 2,000 good steps.

    Out of reach: scripts with a `GradScaler` of their own or without autocast to float16, gradients taken
    with `torch.autograd.grad`, and updates written by hand.
    """
    import torch

    from traindx.experiment.runtime.torch.loss_scaling import ScaledBackward

    scaling = ScaledBackward(hooks, scale)

    def autocast(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if self._enabled and self.fast_dtype is torch.float16:
            scaling.needed = True

    def scaler(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if self._enabled:
            scaling.present = True
            hooks.otherwise("the script has a GradScaler of its own")

    hooks.otherwise("the script has no autocast to float16")
    hooks.function("autocast.__init__", autocast)
    hooks.function("GradScaler.__init__", scaler)
    hooks.optimizer_made(scaling.optimizer_made)
    hooks.before_backward(scaling.before_backward)
    hooks.after_backward(scaling.after_backward)
    hooks.gradients(scaling.before_step)


def _switch_scaling_off(hooks: Hooks) -> None:
    def scaler(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if self._enabled:
            self._enabled = False
            hooks.changed("loss scaling is off")

    hooks.function("GradScaler.__init__", scaler)


def _name(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")
