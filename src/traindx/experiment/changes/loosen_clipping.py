"""Raise the limit of the script's own gradient clipping, or take the clipping away.

The limit given to `clip_grad_norm_` and `clip_grad_value_` is multiplied by `factor`; with `off` gradients
pass unclipped.

Out of reach: clipping that is written by hand.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Raise the limit of the script's own gradient clipping.",
    knobs=("clip",),
    above={"factor": 0},
)


def apply(hooks: Hooks, *, factor: float = 10.0, off: bool = False) -> None:
    import torch

    def by_norm(original: Any, parameters: Any, max_norm: float, *args: Any, **kwargs: Any) -> Any:
        limit = float(max_norm)
        if off:
            hooks.changed(f"clipping to the norm {limit:g} is off")
            listed = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            kind = float(args[0] if args else kwargs.get("norm_type", 2.0))
            return _norm([one.grad for one in listed if one.grad is not None], kind)
        hooks.changed(f"clipping to the norm {limit:g} -> {limit * factor:g}")
        return original(parameters, limit * factor, *args, **kwargs)

    def by_value(original: Any, parameters: Any, clip_value: float, *args: Any, **kwargs: Any) -> Any:
        limit = float(clip_value)
        if off:
            hooks.changed(f"limiting elements to {limit:g} is off")
            return None
        hooks.changed(f"limiting elements to {limit:g} -> {limit * factor:g}")
        return original(parameters, limit * factor, *args, **kwargs)

    hooks.otherwise("the script called neither clip_grad_norm_ nor clip_grad_value_")
    for owner in ("utils", "clip_grad"):
        hooks.function(f"{owner}.clip_grad_norm_", by_norm)
        hooks.function(f"{owner}.clip_grad_value_", by_value)


def _norm(gradients: list[Any], kind: float) -> Any:
    import torch

    if not gradients:
        return torch.tensor(0.0)
    norms = [torch.linalg.vector_norm(one.detach(), kind).to(gradients[0].device) for one in gradients]
    return torch.linalg.vector_norm(torch.stack(norms), kind)
