"""Put a normalisation between each hidden layer and its activation.

After linear and convolutional layers whose result goes straight into an activation, and whose input does
not come from a norm: batch norm for images and tables if the batch is large enough, layer norm for
sequences (`auto`); or the named kind. The new parameters join the group of their layer's weights.

Out of reach: activations written by hand, layers held in plain lists, copies of the model that were made
before its first call, and models that are called by `model.forward(x)`.
"""

from __future__ import annotations

from typing import Any, Literal

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Put a normalisation between each hidden layer and its activation.", knobs=("norm",)
)


def apply(hooks: Hooks, *, kind: Literal["auto", "batch", "layer"] = "auto") -> None:
    from traindx.experiment.runtime.torch.inserting import insert
    from traindx.experiment.runtime.torch.models import Models
    from traindx.experiment.runtime.torch.tracing import trace

    def first(root: Any, given: Any) -> None:
        with hooks.aside():
            traced = trace(root, given)
        placed = insert(traced, kind, models.group_of) if traced is not None else ""
        if placed:
            hooks.changed(f"{type(root).__name__}: {placed}")

    hooks.otherwise("no layer of a model goes straight into an activation without a norm")
    models = Models(hooks, first)
