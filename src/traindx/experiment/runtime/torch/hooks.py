"""Hooks that are more than one event of the bus: backward passes, functions, compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import ChangedTraining


class BackwardHook:
    """Outermost backward passes. Models called within one compute again what they have computed before."""

    def __init__(self, training: ChangedTraining) -> None:
        self._training = training
        self.before: list[Callable[..., Any]] = []
        self.after: list[Callable[..., Any]] = []
        self.running = False
        training.listen("backward", self._begins)

    def _begins(self, tensors: Any, _: Any, kwargs: dict[str, Any]) -> Callable[[Any], None] | None:
        if self._training.aside or self.running or not kwargs.get("accumulate_grad", True):
            return None
        if torch.compiler.is_compiling():
            return None
        for call in self.before:
            call(tuple(tensors))
        self.running = True
        return self._ends

    def _ends(self, found: Any) -> None:
        self.running = False
        for call in self.after if found else ():
            call()


def instead(training: ChangedTraining, call: Callable[..., Any]) -> Callable[..., Any]:
    """What the script's own function raises is the script's, not the change's."""

    def function(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        def plain(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            except Exception as error:
                error.traindx_script = True  # type: ignore[attr-defined]
                raise

        aside = training.aside and not training.functions_watched
        if aside or torch.compiler.is_compiling():
            return original(*args, **kwargs)
        return call(plain, *args, **kwargs)

    return function


def run_as_written(*_: Any, **__: Any) -> None:
    """Compiled code would not pass the hooks."""
    stance = getattr(torch.compiler, "set_stance", None)
    if stance is not None:
        stance("force_eager")
