"""Gradients between the backward pass and the step."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from traindx.experiment.runtime.hooks import Hooks, change
from traindx.experiment.runtime.rate_groups import NO_STEP, drop_gradients, with_gradients


@change(knobs=("clip",), above={"limit": 0})
def clip_norm(hooks: Hooks, *, limit: float) -> None:
    """Clip gradients to a norm before every step.

    The gradients of each optimizer are scaled down to the norm `limit` when theirs is larger, right before
    they are used: after any clipping of the script's own and after a GradScaler has unscaled them.

    Out of reach: updates written by hand without an optimizer of torch.
    """
    import torch

    def clip(optimizer: Any, parameters: list[Any]) -> float:
        scale = getattr(optimizer, "grad_scale", None)
        factor = 1.0 if scale is None else float(scale)
        return float(torch.nn.utils.clip_grad_norm_(parameters, limit * factor)) / factor

    _clip_before_steps(hooks, "gradient norm", limit, clip)


@change(knobs=("clip",), above={"limit": 0})
def clip_value(hooks: Hooks, *, limit: float) -> None:
    """Limit every element of the gradients before each step.

    Elements beyond -`limit` and `limit` are cut off, right before the gradients are used.

    Out of reach: updates written by hand without an optimizer of torch.
    """
    import torch

    def clip(optimizer: Any, parameters: list[Any]) -> float:
        del optimizer
        largest = max(
            float(parameter.grad.detach().abs().max()) for parameter in parameters if parameter.grad.numel()
        )
        torch.nn.utils.clip_grad_value_(parameters, limit)
        return largest

    _clip_before_steps(hooks, "gradient element", limit, clip)


def _clip_before_steps(
    hooks: Hooks, quantity: str, limit: float, clip: Callable[[Any, list[Any]], float]
) -> None:
    """`clip(optimizer, parameters)` clips and returns the size before: a norm, or the largest element."""
    largest, steps, clipped = 0.0, 0, 0

    def before_step(optimizer: Any) -> None:
        nonlocal largest, steps, clipped
        parameters = with_gradients(optimizer)
        if not parameters:
            return
        steps += 1
        with hooks.aside():
            size = clip(optimizer, parameters)
        largest = max(largest, size)
        clipped += not size <= limit
        if clipped == 1:
            hooks.changed(f"{quantity}s above {limit:g} are clipped, the first {size:.4g}")
        elif not clipped:
            hooks.otherwise(
                f"no {quantity} was above {limit:g}: the largest in {steps} steps was {largest:.4g}"
            )

    def end() -> None:
        if clipped:
            hooks.changed(
                f"{clipped} of {steps} steps were clipped, the largest {quantity} was {largest:.4g}"
            )

    hooks.otherwise(NO_STEP)
    hooks.at_end(end)
    hooks.gradients(before_step)


@change(knobs=("clip",), above={"factor": 0})
def loosen_clipping(hooks: Hooks, *, factor: float = 10.0, off: bool = False) -> None:
    """Raise the limit of the script's own gradient clipping, or take the clipping away.

    The limit given to `clip_grad_norm_` and `clip_grad_value_` is multiplied by `factor`; with `off`
    gradients pass unclipped.

    Out of reach: clipping that is written by hand.
    """
    import torch

    def by_norm(original: Any, parameters: Any, max_norm: float, *args: Any, **kwargs: Any) -> Any:
        limit = float(max_norm)
        if off:
            hooks.changed(f"clipping to the norm {limit:g} is off")
            listed = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            kind = float(args[0] if args else kwargs.get("norm_type", 2.0))
            return _norm([parameter.grad for parameter in listed if parameter.grad is not None], kind)
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
    norms = [
        torch.linalg.vector_norm(gradient.detach(), kind).to(gradients[0].device) for gradient in gradients
    ]
    return torch.linalg.vector_norm(torch.stack(norms), kind)


@change(knobs=("data",))
def skip_nonfinite(hooks: Hooks) -> None:
    """Leave out steps whose gradients are not finite.

    Before each step the gradients are looked at; if one holds a NaN or an infinity, all of that optimizer's
    are removed, and the step leaves the parameters as they are.

    Out of reach: running statistics of batch norm, which the bad batch has passed by then; updates written
    by hand.
    """
    import torch

    steps = skipped = 0

    def look(optimizer: Any) -> None:
        nonlocal steps, skipped
        steps += 1
        parameters = with_gradients(optimizer)
        if all(bool(torch.isfinite(_values(parameter.grad)).all()) for parameter in parameters):
            if not skipped:
                hooks.otherwise(f"all gradients of {steps} steps were finite")
            return
        skipped += 1
        if skipped == 1:
            hooks.changed(f"step {steps} is the first to be left out: its gradients are not finite")
        drop_gradients(optimizer)

    def end() -> None:
        if skipped:
            hooks.changed(f"{skipped} of {steps} steps were left out")

    hooks.otherwise(NO_STEP)
    hooks.at_end(end)
    hooks.gradients(look)


def _values(gradient: Any) -> Any:
    return gradient._values() if gradient.is_sparse else gradient


@change(knobs=("zero_grad",))
def zero_gradients(hooks: Hooks) -> None:
    """Clear the gradients of the step before when the next backward pass begins.

    What a script leaves in `.grad` after a step is removed before the first backward pass that follows, so
    that each step uses the gradients of its own batches only. Accumulating over several backward passes
    before a step works as ever.

    Out of reach: gradients taken with `torch.autograd.grad`, and updates without an optimizer of torch.
    """
    counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
    stepped = False

    def stepping(optimizer: Any) -> None:
        nonlocal stepped
        stepped = True
        counts[optimizer] = counts.get(optimizer, 0) + 1

    def clear(losses: Any) -> None:
        nonlocal stepped
        del losses
        if not stepped:
            return
        stepped = False
        most_steps = max(counts.values())
        # One that steps more rarely than another is still gathering.
        for optimizer in [candidate for candidate, count in counts.items() if count >= most_steps - 1]:
            parameters = with_gradients(optimizer)
            if parameters and not hooks.has_changed:
                hooks.changed(_leftover_text(parameters))
            drop_gradients(optimizer)

    hooks.otherwise("no gradients were left over from the step before: the script clears them itself")
    hooks.after_step(stepping)
    hooks.before_backward(clear)


def _leftover_text(parameters: list[Any]) -> str:
    import torch

    norms = [
        torch.linalg.vector_norm(parameter.grad.detach().float())
        for parameter in parameters
        if not parameter.grad.is_sparse
    ]
    norm = float(torch.linalg.vector_norm(torch.stack(norms))) if norms else 0.0
    return f"gradients of norm {norm:.4g} left over in {len(parameters)} tensors are cleared before backward"


@change(knobs=("accumulation", "batch_size"), least={"batches": 2})
def accumulate(hooks: Hooks, *, batches: int) -> None:
    """Take a step only every so many batches, on the mean of their gradients.

    The gradients of each step the script takes are divided by `batches` and summed; the steps in between do
    nothing, and every `batches`-th is taken on the sum. Counts of steps and schedules go on as the script
    counts them.

    Out of reach: steps with a closure, updates written by hand, and gradients that are left to add up.
    """
    counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
    sums: weakref.WeakKeyDictionary[Any, dict[int, Any]] = weakref.WeakKeyDictionary()

    def gather(optimizer: Any) -> None:
        if type(optimizer).__name__ == "LBFGS":
            hooks.cannot("LBFGS computes its gradients several times in a step")
        count = counts[optimizer] = counts.get(optimizer, 0) + 1
        pending = sums.setdefault(optimizer, {})
        for parameter in (parameter for group in optimizer.param_groups for parameter in group["params"]):
            if parameter.grad is not None:
                part = parameter.grad.detach() / batches
                earlier = pending.get(id(parameter))
                pending[id(parameter)] = part if earlier is None else earlier + part
            # Without a gradient, a step leaves the parameter as it is.
            parameter.grad = None if count % batches else pending.pop(id(parameter), None)
        hooks.changed(f"one step every {batches} batches, on the mean of their gradients")

    hooks.otherwise(NO_STEP)
    hooks.gradients(gather)
