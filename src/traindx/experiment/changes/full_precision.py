"""Compute everything in 32 bits: no autocast, no loss scaling, no half-precision weights.

Autocast and `GradScaler` are switched off, and `half()`, `bfloat16()` and `to(...)` keep 32 bits.

Out of reach: tensors that are made in half precision (`torch.zeros(..., dtype=torch.float16)`), and
models loaded in it.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Compute everything in 32 bits.", knobs=("precision",))


def apply(hooks: Hooks) -> None:
    import torch

    halves = (torch.float16, torch.bfloat16)

    def autocast(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if self._enabled:
            self._enabled = False
            hooks.changed(f"autocast to {_name(self.fast_dtype)} is off")

    def scaler(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if self._enabled:
            self._enabled = False
            hooks.changed("loss scaling is off")

    def halved(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        del original
        hooks.changed("half() and bfloat16() keep 32 bits")
        return self.float(*args, **kwargs)

    def to(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if any(one in halves for one in (*args, *kwargs.values()) if isinstance(one, torch.dtype)):
            hooks.changed("to(...) a half precision keeps 32 bits")
            args = tuple(torch.float32 if _is(one, halves) else one for one in args)
            kwargs = {key: torch.float32 if _is(one, halves) else one for key, one in kwargs.items()}
        return original(self, *args, **kwargs)

    hooks.otherwise("the training used neither autocast nor half-precision weights")
    hooks.function("autocast.__init__", autocast)
    hooks.function("GradScaler.__init__", scaler)
    for owner in ("Module", "Tensor"):
        for name in ("half", "bfloat16"):
            hooks.function(f"{owner}.{name}", halved)
        hooks.function(f"{owner}.to", to)


def _is(one: object, halves: tuple[Any, ...]) -> bool:
    import torch

    return isinstance(one, torch.dtype) and one in halves


def _name(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")
