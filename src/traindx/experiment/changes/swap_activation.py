"""Put another activation in the place of the hidden ones.

Modules and functions (`F.relu`, `torch.tanh`, `x.sigmoid()`) alike. What makes the model's output stays, and
so do gates: activations whose result is multiplied with another. Which are which is seen in a pass of the
model aside, before its first call.

Out of reach: activations inside `nn.LSTM`, `nn.GRU` and `nn.RNN`, those written by hand, and models that are
called by `model.forward(x)`.
"""

from __future__ import annotations

from typing import Any, Literal

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Put another activation in the place of the hidden ones.", knobs=("activation",))


def apply(
    hooks: Hooks, *, to: Literal["relu", "leaky_relu", "gelu", "silu", "elu", "tanh"] = "leaky_relu"
) -> None:
    from traindx.experiment.runtime.torch.activating import FUNCTIONS, Activations
    from traindx.experiment.runtime.torch.models import Models
    from traindx.experiment.runtime.torch.tracing import trace

    activations = Activations(to)

    def first(root: Any, given: Any) -> None:
        with hooks.aside(but_functions=True), activations.watching():
            traced = trace(root, given)
        text = activations.settle(root, traced) if traced is not None else ""
        if text:
            hooks.changed(f"{type(root).__name__}: {text}")
        elif not hooks.has_changed:
            hooks.otherwise(f"no hidden activation other than {to} was found")

    hooks.otherwise("no model whose parameters an optimizer holds was called")
    Models(hooks, first)
    for path, kind in FUNCTIONS.items():
        hooks.function(path, activations.instead(kind))
