"""Optimizers: when they are made, and when they step."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from traindx.observe.hooks.bus import Channel
from traindx.observe.torch.places.patches import Patches


def stepping(patches: Patches, begins: Channel, ends: Channel) -> None:
    """Torch's own hooks for all optimizers: it calls the listeners itself, without us in between."""
    handles: list[Any] = []

    def remove() -> None:
        for handle in handles:
            handle.remove()
        handles.clear()

    def refresh() -> None:
        remove()
        handles.extend(map(register_optimizer_step_pre_hook, begins.calls))
        handles.extend(map(register_optimizer_step_post_hook, ends.calls))

    begins.refresh = ends.refresh = refresh
    patches.removals.append(remove)
    refresh()


def optimizer_made(patches: Patches, event: Channel) -> None:
    """The end of `__init__` of every class of optimizers, those that are still to be written, too."""
    at_work: set[int] = set()

    def replaced(original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(self: Optimizer, *args: Any, **kwargs: Any) -> None:
            if id(self) in at_work:
                original(self, *args, **kwargs)
                return
            at_work.add(id(self))
            try:
                original(self, *args, **kwargs)
            finally:
                at_work.discard(id(self))
            arguments = _arguments(original, self, args, kwargs)
            for call in event.calls:
                call(self, arguments)

        return __init__

    def defined(cls: type[Optimizer], **kwargs: Any) -> None:
        super(Optimizer, cls).__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            patches.replace(cls, "__init__", replaced)

    def undefine() -> None:
        del Optimizer.__init_subclass__

    for cls in _all_subclasses(Optimizer):
        if "__init__" in vars(cls):
            patches.replace(cls, "__init__", replaced)
    Optimizer.__init_subclass__ = classmethod(defined)  # type: ignore[assignment,arg-type]
    patches.removals.append(undefine)


def _all_subclasses(cls: type[Optimizer]) -> set[type[Optimizer]]:
    below = set(cls.__subclasses__())
    return below.union(*map(_all_subclasses, below)) if below else below


def _arguments(original: Callable[..., Any], self: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Arguments by name, without the parameters."""
    try:
        bound = inspect.signature(original).bind(self, *args, **kwargs).arguments
    except (TypeError, ValueError):
        return dict(kwargs)
    names = list(bound)[2:]
    extra: dict[str, Any] = bound.get("kwargs", {})
    return {name: bound[name] for name in names if name != "kwargs"} | extra
