"""Clear the gradients of the step before when the next backward pass begins.

What a script leaves in `.grad` after a step is removed before the first backward pass that follows, so
that each step uses the gradients of its own batches only. Accumulating over several backward passes
before a step works as ever.

Out of reach: gradients taken with `torch.autograd.grad`, and updates without an optimizer of torch.
"""

from __future__ import annotations

import weakref
from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks
from traindx.experiment.runtime.rate_groups import with_gradients

CHANGE = ChangeSpec(
    title="Clear the gradients of the step before when the next backward pass begins.",
    knobs=("zero_grad",),
)


def apply(hooks: Hooks) -> None:
    counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
    stepped = False

    def done(optimizer: Any) -> None:
        nonlocal stepped
        stepped = True
        counts[optimizer] = counts.get(optimizer, 0) + 1

    def clear(losses: Any) -> None:
        nonlocal stepped
        del losses
        if not stepped:
            return
        stepped = False
        most = max(counts.values())
        # One that steps more rarely than another is still gathering.
        for optimizer in [one for one, count in counts.items() if count >= most - 1]:
            held = with_gradients(optimizer)
            if held and not hooks.has_changed:
                hooks.changed(_leftover_text(held))
            for one in held:
                one.grad = None

    hooks.otherwise("no gradients were left over from the step before: the script clears them itself")
    hooks.after_step(done)
    hooks.before_backward(clear)


def _leftover_text(held: list[Any]) -> str:
    import torch

    norms = [torch.linalg.vector_norm(one.grad.detach().float()) for one in held if not one.grad.is_sparse]
    norm = float(torch.linalg.vector_norm(torch.stack(norms))) if norms else 0.0
    return f"gradients of norm {norm:.4g} left over in {len(held)} tensors are cleared before backward"
