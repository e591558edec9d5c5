"""Set the share that dropout leaves out.

All dropout modules and functions of the training get `value`, also that inside attention and between the
layers of an RNN, where the script has one at all.

Out of reach: models without dropout, and dropout that is written by hand.
"""

from __future__ import annotations

import weakref
from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Set the share that dropout leaves out.",
    knobs=("dropout",),
    least={"value": 0},
    most={"value": 0.99},
)


def apply(hooks: Hooks, *, value: float) -> None:
    from torch import nn

    seen: weakref.WeakSet[Any] = weakref.WeakSet()

    def called(given: object, root: Any) -> None:
        del given
        if root in seen:
            return
        seen.add(root)
        for name, module in root.named_modules():
            if isinstance(module, nn.modules.dropout._DropoutNd):
                _set(module, "p", name)
            elif isinstance(module, nn.MultiheadAttention | nn.RNNBase) and module.dropout:
                _set(module, "dropout", name)

    def _set(module: Any, attribute: str, name: str) -> None:
        before = getattr(module, attribute)
        if before == value:
            hooks.otherwise(f"dropout is {value:g} already")
            return
        setattr(module, attribute, value)
        hooks.changed(f"dropout {before:g} -> {value:g} in {name or type(module).__name__}")

    def dropped(original: Any, input: Any, p: float = 0.5, *args: Any, **kwargs: Any) -> Any:
        training = args[0] if args else kwargs.get("training", True)
        if p != value and training:
            hooks.changed(f"dropout {p:g} -> {value:g} in a call of F.dropout")
        return original(input, value if training else p, *args, **kwargs)

    def attended(original: Any, *args: Any, **kwargs: Any) -> Any:
        given = dict(
            zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal"), args, strict=False)
        )
        given |= kwargs
        if given.get("dropout_p") and given["dropout_p"] != value:
            hooks.changed(f"dropout {given['dropout_p']:g} -> {value:g} in attention")
            given["dropout_p"] = value
        return original(**given)

    hooks.otherwise("no dropout was found")
    hooks.model_call(called)
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"):
        hooks.function(f"F.{name}", dropped)
    hooks.function("F.scaled_dot_product_attention", attended)
