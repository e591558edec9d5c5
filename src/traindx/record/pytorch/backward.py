"""`backward` and `autograd.grad`: both end in one function of torch, which is watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from traindx.record.pytorch.watching import Watching


def watch_backward(watching: Watching) -> None:
    """Every entry into the autograd engine, but not those from inside itself (checkpoints)."""
    steps = watching.steps

    def made(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(t_outputs: Any, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling() or not watching.active or steps.depth or not watching.mine():
                return original(t_outputs, *args, **kwargs)
            accumulates = bool(kwargs.get("accumulate_grad", True))
            if not accumulates and not _trains(args, torch.nn.Parameter if steps.built else torch.Tensor):
                return original(t_outputs, *args, **kwargs)
            steps.accumulates = accumulates
            watching.report(steps.backward_begins, t_outputs)
            steps.depth += 1
            try:
                return original(t_outputs, *args, **kwargs)
            finally:
                steps.depth -= 1
                watching.report(steps.backward_ends, accumulates)

        watching.uncompiled += [run, _trains]
        return run

    watching.patches.replace(torch.autograd, "_engine_run_backward", made)


def _trains(args: tuple[Any, ...], kind: type[torch.Tensor]) -> bool:
    """Whether `autograd.grad` was asked for gradients of parameters, to be applied by hand.

    Gradients of inputs (an attack, a penalty) and those to be differentiated again are no step.
    """
    differentiated_again = len(args) > 2 and bool(args[2])
    wanted = args[3] if len(args) > 3 else ()
    found = wanted if isinstance(wanted, tuple | list) else (wanted,)
    return not differentiated_again and any(isinstance(one, kind) and one.is_leaf for one in found)
