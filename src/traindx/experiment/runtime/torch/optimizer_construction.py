"""The end of an optimizer's construction, with what the script gave it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch.optim.optimizer import Optimizer

from traindx.observe.torch.patches import Patches

if TYPE_CHECKING:
    from traindx.experiment.runtime.joints import Training


def touch_making(training: Training, patches: Patches) -> list[Callable[[], object]]:
    """`__init__` of every class of optimizers, those that are still to be written, too."""
    at_work: set[int] = set()

    def touched(original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(self: Optimizer, *args: Any, **kwargs: Any) -> None:
            if id(self) in at_work or training.aside:
                original(self, *args, **kwargs)
                return
            at_work.add(id(self))
            try:
                original(self, *args, **kwargs)
            finally:
                at_work.discard(id(self))
            training.tell("optimizer_made", self, _given(original, self, args, kwargs))

        return __init__

    def defined(cls: type[Optimizer], **kwargs: Any) -> None:
        super(Optimizer, cls).__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            patches.replace(cls, "__init__", touched)

    for cls in _all_subclasses(Optimizer):
        if "__init__" in vars(cls):
            patches.replace(cls, "__init__", touched)
    Optimizer.__init_subclass__ = classmethod(defined)  # type: ignore[assignment,arg-type]

    def undo() -> None:
        del Optimizer.__init_subclass__

    return [undo]


def _all_subclasses(cls: type[Optimizer]) -> set[type[Optimizer]]:
    below = set(cls.__subclasses__())
    return below.union(*map(_all_subclasses, below)) if below else below


def _given(original: Callable[..., Any], self: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Arguments by name, without the parameters."""
    try:
        bound = inspect.signature(original).bind(self, *args, **kwargs).arguments
    except (TypeError, ValueError):
        return dict(kwargs)
    names = list(bound)[2:]
    more: dict[str, Any] = bound.get("kwargs", {})
    return {name: bound[name] for name in names if name != "kwargs"} | more
