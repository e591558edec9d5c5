"""Compute in bfloat16 where autocast can, without loss scaling.

The script's own autocast becomes one to bfloat16 and its `GradScaler` is switched off. A script without
autocast has every outermost call of its models run under it, and gets their results in 32 bits.

Out of reach: models whose weights are in half precision.
"""

from __future__ import annotations

import contextlib
from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Compute in bfloat16 where autocast can.", knobs=("precision",))


def apply(hooks: Hooks) -> None:
    import torch

    from traindx.observe.torch.places.models import mapped

    def autocast(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if not self._enabled:
            return
        if self.fast_dtype is torch.bfloat16:
            hooks.otherwise("autocast to bfloat16 is in use already")
        else:
            hooks.changed(f"autocast to {str(self.fast_dtype).removeprefix('torch.')} -> bfloat16")
            self.fast_dtype = torch.bfloat16

    def scaler(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if self._enabled:
            self._enabled = False
            hooks.changed("loss scaling is off")

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
    hooks.function("GradScaler.__init__", scaler)
    hooks.around_model(around)
    hooks.after_model_call(widened)
