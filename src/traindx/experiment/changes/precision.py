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
        return mapped(output, "", lambda _, one: one.float() if one.dtype is torch.bfloat16 else one)

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
        wide = tuple(widened(one) for one in args), {key: widened(one) for key, one in kwargs.items()}
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


def _switch_scaling_off(hooks: Hooks) -> None:
    def scaler(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if self._enabled:
            self._enabled = False
            hooks.changed("loss scaling is off")

    hooks.function("GradScaler.__init__", scaler)


def _name(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")
