"""Take a step only every so many batches, on the mean of their gradients.

The gradients of each step the script takes are divided by `batches` and summed; the steps in between do
nothing, and every `batches`-th is taken on the sum. Counts of steps and schedules go on as the script
counts them.

Out of reach: steps with a closure, updates written by hand, and gradients that are left to add up.
"""

from __future__ import annotations

import weakref
from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Take a step only every so many batches, on the mean of their gradients.",
    knobs=("accumulation", "batch_size"),
    least={"batches": 2},
)


def apply(hooks: Hooks, *, batches: int) -> None:
    counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
    sums: weakref.WeakKeyDictionary[Any, dict[int, Any]] = weakref.WeakKeyDictionary()

    def gather(optimizer: Any) -> None:
        if type(optimizer).__name__ == "LBFGS":
            hooks.cannot("LBFGS computes its gradients several times in a step")
        count = counts[optimizer] = counts.get(optimizer, 0) + 1
        held = sums.setdefault(optimizer, {})
        for parameter in (one for group in optimizer.param_groups for one in group["params"]):
            if parameter.grad is not None:
                part = parameter.grad.detach() / batches
                known = held.get(id(parameter))
                held[id(parameter)] = part if known is None else known + part
            # Without a gradient, a step leaves the parameter as it is.
            parameter.grad = None if count % batches else held.pop(id(parameter), None)
        hooks.changed(f"one step every {batches} batches, on the mean of their gradients")

    hooks.otherwise("no optimizer of torch took a step")
    hooks.gradients(gather)
