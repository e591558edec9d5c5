"""Optimizers and schedulers: when they are made, when they step."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.optim import lr_scheduler
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from traindx.observe.torch.optimizer_state import has_closure

Args = tuple[Any, ...]
Kwargs = dict[str, Any]

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching


def watch_optimizers(watching: Watching) -> None:
    """Global step hooks, and the two places every optimizer and scheduler passes when it is made."""
    steps, recorder = watching.steps, watching.recorder
    quick = steps.quick

    def before(optimizer: Optimizer, args: Args, kwargs: Kwargs) -> None:
        try:
            if quick.on and quick.step_begins(optimizer, args, kwargs):
                return
        except Exception as error:
            watching.stop_counting(error)
        if torch.compiler.is_compiling() or not watching.active:
            return
        if not (steps.depth or watching.mine()):
            watching.elsewhere.add(id(optimizer))
            return
        try:
            steps.step_begins(optimizer, has_closure(args, kwargs))
        except Exception as error:
            watching.stop_counting(error)

    def after(optimizer: Optimizer, args: Args, kwargs: Kwargs) -> None:
        try:
            taken = quick.on and quick.step_ends(optimizer, args, kwargs)
        except Exception as error:
            taken = False
            watching.stop_counting(error)
        if taken:
            recorder.check_stop()
            return
        if torch.compiler.is_compiling() or not watching.active or not (steps.depth or watching.mine()):
            return
        try:
            steps.step_ends(optimizer, has_closure(args, kwargs))
        except Exception as error:
            watching.stop_counting(error)
        if not steps.depth:
            recorder.check_stop()

    watching.removals += [
        register_optimizer_step_pre_hook(before).remove,
        register_optimizer_step_post_hook(after).remove,
    ]

    def built(original: Callable[..., Any]) -> Callable[..., Any]:
        def made(self: Optimizer) -> Any:
            # A copy or an unpickled one has its groups already: it counts once it steps.
            if watching.active and "param_groups" not in vars(self):
                watching.optimizer_made(self)
            return original(self)

        return made

    def started(original: Callable[..., Any]) -> Callable[..., Any]:
        def begun(self: Any, *args: Any, **kwargs: Any) -> Any:
            if watching.active:
                watching.schedulers[id(self)] = weakref.ref(self)
            return original(self, *args, **kwargs)

        return begun

    watching.patches.replace(Optimizer, "_patch_step_function", built)
    watching.patches.replace(lr_scheduler.LRScheduler, "_initial_step", started)
    watching.patches.replace(lr_scheduler.ReduceLROnPlateau, "_init_is_better", started)
