"""State that the script loads: how much of it fitted, and whether an optimizer's was left in the file."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from traindx.observe.torch.roots import is_trained_by

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_NAMED = 20
_DEEP = 2


class Restoring:
    """What was loaded before a training, recorded when its optimizer takes the first step."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.models: list[dict[str, Any]] = []
        # Parameters in the groups of an optimizer whose state was read from a file, and not used so far.
        self._waiting: int | None = None
        self._model: weakref.ref[torch.nn.Module] | None = None
        self._untold: tuple[str, int] | None = None

    def file_read(self, content: Any, *_: Any, **__: Any) -> None:
        state = _optimizer_state(content)
        if state is not None:
            self._waiting = sum(len(group.get("params", ())) for group in state["param_groups"])

    def model_loaded(self, result: Any, model: torch.nn.Module, state_dict: Any, *_: Any, **__: Any) -> None:
        self._model = weakref.ref(model)
        missing, unexpected = (
            list(getattr(result, "missing_keys", ())),
            list(getattr(result, "unexpected_keys", ())),
        )
        keys = len(state_dict) if isinstance(state_dict, Mapping) else 0
        if len(self.models) < _NAMED:
            self.models.append(
                {
                    "class": type(model).__name__,
                    "keys": keys,
                    "missing": len(missing),
                    "missing_names": missing[:_NAMED],
                    "unexpected": len(unexpected),
                    "unexpected_names": unexpected[:_NAMED],
                    "wanted": keys - len(unexpected) + len(missing),
                    "step": self.watching.recorder.step,
                }
            )
            self.watching.recorder.fact("restored", list(self.models))

    def restarted(self) -> None:
        """Another training begins: what was loaded so far was loaded before its first step."""
        if self.models:
            self.models = [{**model, "step": 0} for model in self.models]
            self.watching.recorder.fact("restored", list(self.models))

    def optimizer_loaded(self, *_: Any, **__: Any) -> None:
        self._waiting = None

    def first_step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer begins: with an empty state, though the file that was loaded holds one that fits."""
        parameters = sum(len(group["params"]) for group in optimizer.param_groups)
        waiting, self._waiting = self._waiting, None
        if waiting is None or waiting != parameters or optimizer.state or not self.models:
            return
        last = self.models[-1]
        if last["missing"] or last["unexpected"] or not self._is_trained_by(optimizer):
            return
        text = f"{type(optimizer).__name__} begins anew: the loaded file holds a state for it"
        self._untold = (text, parameters)

    def _is_trained_by(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether the model that was loaded is the optimizer's: a teacher is loaded and not trained."""
        model = self._model() if self._model is not None else None
        return model is not None and is_trained_by(model, optimizer)

    def step_done(self) -> None:
        """Report after the first step, which may turn out to be that of another training."""
        if self._untold is not None:
            text, parameters = self._untold
            self._untold = None
            self.watching.recorder.event("optimizer_state_not_loaded", text, {"parameters": parameters})


def _optimizer_state(content: Any, depth: int = _DEEP) -> Mapping[str, Any] | None:
    """The state of an optimizer somewhere in what a file held, if it had taken steps."""
    if not isinstance(content, Mapping):
        return None
    groups = content.get("param_groups")
    if isinstance(groups, list) and groups and isinstance(groups[0], Mapping) and content.get("state"):
        return content
    values = list(content.values())[:1000] if depth else []
    states = (_optimizer_state(value, depth - 1) for value in values if isinstance(value, Mapping))
    return next((state for state in states if state is not None), None)
