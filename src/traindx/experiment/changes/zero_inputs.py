"""Give the model nothing to see: zeros instead of its inputs, one token instead of a text.

Every outermost call of a model gets zeros of the same shape for its numbers, in training and validation.
Integer inputs (tokens, categories) become one constant id. Masks, labels and the structure of a graph
stay as they are.

Out of reach: models that are called by `model.forward(x)` or are no modules of torch.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Zeros instead of the model's inputs.", knobs=("inputs",))


def apply(hooks: Hooks) -> None:
    import torch

    from traindx.experiment.runtime.torch.labels import is_input, said

    tokens: dict[str, int] = {}

    def blank(name: str, tensor: torch.Tensor) -> torch.Tensor:
        if not is_input(name, tensor):
            return tensor
        if tensor.is_floating_point() or tensor.is_complex():
            hooks.changed(f"{said(name, tensor)} is zeros")
            return torch.zeros_like(tensor)
        token = tokens.setdefault(name, int(tensor.flatten().median()))
        hooks.changed(f"{said(name, tensor)} is {token} everywhere")
        return torch.full_like(tensor, token)

    def called(given: Any, root: object) -> None:
        del root
        if given.fresh:
            given.replace(blank)

    hooks.otherwise("no module with parameters was called with tensors that are not computed by another")
    hooks.model_call(called)
