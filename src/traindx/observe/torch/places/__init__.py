"""Where torch is replaced: one place for each function, which fills one event of the bus."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.optim import lr_scheduler
from torch.optim.optimizer import Optimizer

from traindx.observe.hooks.bus import BUS, RECORD, Call, Channel
from traindx.observe.torch.places import backward, loaders, losses, models, optimizers
from traindx.observe.torch.places.patches import Function, Patches, after, before, instead, span

_clip_grad, _scaler = torch.nn.utils.clip_grad, torch.amp.GradScaler
_TRANSFORMS = ("grad", "grad_and_value", "vjp", "jacrev", "functional_call")

# Events that are just a call of a function: what listeners get of it, and where it stands.
_PLAIN: dict[str, tuple[Callable[[Channel], Callable[[Function], Function]], list[tuple[Any, str]]]] = {
    "optimizer_begun": (before, [(Optimizer, "_patch_step_function")]),
    "optimizer_loaded": (before, [(Optimizer, "load_state_dict")]),
    "group_added": (after, [(Optimizer, "add_param_group")]),
    "scheduler_made": (
        before,
        [(lr_scheduler.LRScheduler, "_initial_step"), (lr_scheduler.ReduceLROnPlateau, "_init_is_better")],
    ),
    "scale": (after, [(_scaler, "scale")]),
    "unscale": (before, [(_scaler, "unscale_")]),
    "scaler_step": (span, [(_scaler, "_maybe_opt_step")]),
    "mode": (before, [(nn.Module, "train")]),
    "model_loaded": (after, [(nn.Module, "load_state_dict")]),
    "file_loaded": (after, [(torch, "load")]),
    "compile": (before, [(torch, "compile")]),
    "transform": (before, [(torch.func, name) for name in _TRANSFORMS]),
}
_OTHERS: dict[tuple[str, ...], Callable[..., None]] = {
    ("backward",): backward.backward,
    ("loss_call",): losses.loss_call,
    ("loss_computed",): losses.loss_computed,
    ("model_call", "model_output"): models.model_calls,
    ("step_begins", "step_ends"): optimizers.stepping,
    ("optimizer_made",): optimizers.optimizer_made,
    ("loader_made",): loaders.loader_made,
    ("pass_begins",): loaders.pass_begins,
    ("fetch", "batch"): loaders.fetching,
}
_OWNERS: dict[str, Any] = {
    "F": functional,
    "torch": torch,
    "Tensor": torch.Tensor,
    "utils": torch.nn.utils,
    "clip_grad": _clip_grad,
    "autocast": torch.amp.autocast_mode.autocast,
    "GradScaler": _scaler,
    "Module": nn.Module,
}
_FUNCTION = "function:"
# What is replaced now. `torch.jit.script` comes first: it reads the source of functions as torch wrote them.
_in_place: list[Patches] = []


def listen(name: str, call: Call, order: int = RECORD) -> Callable[[], None]:
    """Listen to an event that torch fills; what is returned ends it."""
    if "backward" not in BUS.names:
        _fill()
    if name.startswith(_FUNCTION) and name not in BUS.names:
        owner, _, function = name.removeprefix(_FUNCTION).partition(".")
        BUS.fill((name,), _source(_plainly(instead, [(_OWNERS[owner], function)])))
    return BUS.listen(name, call, order)


def _fill() -> None:
    for name, (how, functions) in _PLAIN.items():
        BUS.fill((name,), _source(_plainly(how, functions)))
    BUS.fill(("clip_norm",), _source(_clip_norm))
    for names, install in _OTHERS.items():
        BUS.fill(names, _source(install))


def _plainly(
    how: Callable[[Channel], Callable[[Function], Function]], functions: list[tuple[Any, str]]
) -> Callable[..., None]:
    def install(patches: Patches, event: Channel) -> None:
        for owner, name in functions:
            patches.replace(owner, name, how(event))

    return install


def _source(install: Callable[..., None]) -> Callable[..., Callable[[], None]]:
    def begin(*events: Channel) -> Callable[[], None]:
        if not _in_place:
            _in_place.append(Patches())
            _in_place[0].replace(torch.jit, "script", _as_written)
        patches = Patches()
        _in_place.append(patches)

        def undo() -> None:
            patches.undo()
            _in_place.remove(patches)
            if len(_in_place) == 1:
                _in_place.pop().undo()

        try:
            install(patches, *events)
        except BaseException:
            undo()
            raise
        return undo

    return begin


def _as_written(original: Function) -> Function:
    def script(*args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as stack:
            for patches in reversed(_in_place):
                stack.enter_context(patches.aside())
            return original(*args, **kwargs)

    return script


def _clip_norm(patches: Patches, event: Channel) -> None:
    """The norm that clipping finds costs nothing more; older versions only return it."""

    def by_norm(original: Function) -> Function:
        def clip(parameters: Any, max_norm: float, total_norm: Any, *args: Any, **kwargs: Any) -> Any:
            for call in event.calls:
                call(total_norm, max_norm)
            return original(parameters, max_norm, total_norm, *args, **kwargs)

        return clip

    def whole(original: Function) -> Function:
        def clip(parameters: Any, max_norm: float, *args: Any, **kwargs: Any) -> Any:
            norm = original(parameters, max_norm, *args, **kwargs)
            for call in event.calls:
                call(norm, max_norm)
            return norm

        return clip

    if not patches.replace(_clip_grad, "_clip_grads_with_norm_", by_norm):
        for owner in (_clip_grad, torch.nn.utils):
            patches.replace(owner, "clip_grad_norm_", whole)
