"""What is registered at the joints of a training, called at the events of the bus."""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from traindx.experiment.runtime.frames import place_in_script
from traindx.experiment.runtime.torch.feeding import Feeding, LoaderPass
from traindx.experiment.runtime.torch.stepping import Stepping
from traindx.observe.hooks.bus import CHANGE, RESTORE
from traindx.observe.torch.places import listen
from traindx.observe.torch.places.losses import LossArguments
from traindx.observe.torch.places.models import ModelCall

if TYPE_CHECKING:
    from traindx.experiment.runtime.joints import ChangedTraining


def listen_for(training: ChangedTraining) -> list[Callable[[], None]]:
    """Listen to the events of the joints where something is registered; what is returned ends it."""
    if not training.calls:
        return []
    return [listen(event, call, order) for event, call, order in ChangeListeners(training).all()]


class ChangeListeners:
    """Each event is handed on to the joints; what an intervention itself does with torch is not."""

    def __init__(self, training: ChangedTraining) -> None:
        self.training = training
        self._passes: weakref.WeakKeyDictionary[Any, LoaderPass] = weakref.WeakKeyDictionary()

    def all(self) -> Iterator[tuple[str, Callable[..., Any], int]]:
        training = self.training
        joints = training.calls.keys()
        yield "compile", _run_as_written, CHANGE
        if joints & {"before_step", "gradients", "after_step", "rate"}:
            stepping = Stepping(training)
            yield "group_added", stepping.group_added, CHANGE
            yield "step_begins", stepping.begins, CHANGE
            yield "step_ends", stepping.ends, RESTORE
        if "optimizer_made" in joints:
            yield "optimizer_made", self._optimizer_made, CHANGE
        if joints & {"model_call", "around_model"}:
            yield "model_call", self._model_call, CHANGE
        if "after_model_call" in joints:
            yield "model_output", self._model_output, CHANGE
        if "loss_call" in joints:
            yield "loss_call", self._loss_call, CHANGE
        if "loader_made" in joints:
            yield "loader_made", self._loader_made, CHANGE
        if "batch" in joints:
            training.feeding = Feeding()
            training.calls.setdefault("after_backward", []).insert(0, training.feeding.backward)
            yield "pass_begins", self._pass_begins, CHANGE
            yield "batch", self._batch, CHANGE
        yield "backward", self._backward, CHANGE
        for joint, calls in training.calls.items():
            if joint.startswith("function:"):
                for call in calls:
                    yield joint, self._function(call), CHANGE

    def _backward(self, tensors: Any, _: Any, kwargs: dict[str, Any]) -> Callable[[bool], None] | None:
        training = self.training
        if training.aside or training.in_backward or torch.compiler.is_compiling():
            return None
        if not kwargs.get("accumulate_grad", True):
            return None
        training.tell("before_backward", tuple(tensors))
        training.in_backward = True
        return self._backward_ends

    def _backward_ends(self, done: bool) -> None:
        self.training.in_backward = False
        if done:
            self.training.tell("after_backward")

    def _optimizer_made(self, optimizer: Any, arguments: dict[str, Any]) -> None:
        if not self.training.aside:
            self.training.tell("optimizer_made", optimizer, arguments)

    def _model_call(self, call: ModelCall) -> None:
        if not (self.training.aside or self.training.in_backward):
            self.training.tell("model_call", call, call.root)
            call.contexts += self.training.asked("around_model", call.root)

    def _model_output(self, output: Any, root: Any) -> Any:
        if self.training.aside or self.training.in_backward:
            return output
        return self.training.through("after_model_call", output, root)

    def _loss_call(self, call: LossArguments) -> None:
        if not self.training.aside:
            self.training.tell("loss_call", call)

    def _loader_made(self, given: dict[str, Any]) -> Callable[[Any], None] | None:
        if self.training.aside:
            return None
        # The words of the line that makes the loader tell training from validation.
        line = linecache.getline(*place_in_script()).strip()
        then = [call for call in self.training.asked("loader_made", given, line) if call is not None]

        def made(loader: Any) -> None:
            for call in then:
                call(loader)

        return made

    def _pass_begins(self, loader: Any, iterator: Any, _: float) -> None:
        if iterator not in self._passes:
            self._passes[iterator] = LoaderPass(loader, place_in_script())

    def _batch(self, batch: Any, iterator: Any) -> Any:
        source = self._passes.get(iterator)
        if source is None or self.training.aside:
            return batch
        return self.training.through("batch", batch, source, self.training.feeding.fetched(source))

    def _function(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """What the script's own function raises is the script's, not the intervention's."""
        training = self.training

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


def _run_as_written(*_: Any, **__: Any) -> None:
    """Compiled code would not pass the joints."""
    stance = getattr(torch.compiler, "set_stance", None)
    if stance is not None:
        stance("force_eager")
