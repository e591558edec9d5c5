"""The places where a running training can be touched.

Interventions only register here what is to happen at a place. The training listens to the events of the bus
(`observe/hooks`) that these places need, and to no others: a training without changes runs as it is.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from traindx.experiment.runtime.change import Change, interventions
from traindx.experiment.runtime.change import Intervention as Intervention
from traindx.experiment.runtime.change_log import ChangeLog
from traindx.observe.children import trained_elsewhere
from traindx.observe.recorder import Recorder, current, when_started

Call = Callable[..., Any]


class ChangedTraining:
    """The training of this process: its changes, and what is to happen at each place."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self.told = [ChangeLog(change) for change in changes]
        self.calls: dict[str, list[Call]] = {}
        self.at_end: list[Call] = []
        # Set while an intervention itself uses torch: what it does there is not the training's.
        self.aside = False
        # Set while functions are to be touched nevertheless.
        self.functions_watched = False
        self.feeding: Any = None
        # Models called within a backward pass compute again what they have computed before.
        self.in_backward = False
        self._removals: list[Call] = []
        self._installed = self._ended = False

    def install(self) -> None:
        """Everything registered and patched; torch must be there."""
        for told in self.told:
            joints = Joints(self, told)
            unit = interventions()[told.change.id]
            joints.guarded(unit.apply)(joints, **told.change.values)
        from traindx.experiment.runtime.torch.listeners import listen_for

        self._removals += listen_for(self)
        self._installed = True

    def announce(self) -> None:
        """Say what is to be changed as soon as there is a recording, and at its end what came of it."""
        when_started(self._recorded)

    def _recorded(self, recorder: Recorder) -> None:
        recorder.fact("interventions", [one.to_json() for one in self.told])
        recorder.before_close.append(self.end)

    def end(self) -> None:
        """The training is over: what never came about is told, too."""
        recorder = current()
        elsewhere = recorder is not None and not recorder.step and trained_elsewhere(recorder.folder)
        if self._ended or elsewhere:
            return
        self._ended = True
        if not self._installed:
            for told in self.told:
                told.otherwise = "torch was never imported"
        for call in self.at_end:
            call()
        for told in self.told:
            told.end()
        self.write()

    def write(self) -> None:
        recorder = current()
        if recorder is not None:
            recorder.fact("interventions", [one.to_json() for one in self.told])

    def undo(self) -> None:
        """Everything of torch back as it was."""
        for remove in reversed(self._removals):
            remove()
        self._removals.clear()

    def tell(self, place: str, *args: Any) -> None:
        """Call what is registered at a place."""
        for call in self.calls.get(place, ()):
            call(*args)

    def asked(self, place: str, *args: Any) -> list[Any]:
        """What each registered at a place returns."""
        return [call(*args) for call in self.calls.get(place, ())]

    def through(self, place: str, value: Any, *args: Any) -> Any:
        """Hand a value through all that is registered at a place."""
        for call in self.calls.get(place, ()):
            value = call(value, *args)
        return value


class Joints:
    """One change's hold on the training: where it acts, and what it says."""

    def __init__(self, training: ChangedTraining, told: ChangeLog) -> None:
        self.training = training
        self._told = told

    # What it says.

    def changed(self, text: str) -> None:
        """What was changed, with numbers."""
        before = len(self._told.said)
        self._told.changed(text)
        if len(self._told.said) != before:
            self.training.write()

    def cannot(self, why: str) -> NoReturn:
        """It cannot be done in this training, which ends here."""
        self._told.cannot(why)

    def otherwise(self, why: str) -> None:
        """What to say at the end if nothing has been changed."""
        self._told.otherwise = why

    @property
    def has_changed(self) -> bool:
        return bool(self._told.said)

    def at_end(self, call: Callable[[], None]) -> None:
        """When the training is over, before what never changed anything is told."""
        self.training.at_end.append(self.guarded(call))

    # Where it acts.

    def optimizer_made(self, call: Callable[[Any, dict[str, Any]], None]) -> None:
        """`call(optimizer, given)`, at the end of its construction; `given` is what the script said."""
        self._register("optimizer_made", call)

    def before_step(self, call: Callable[[Any], None]) -> None:
        """`call(optimizer)`; with a closure, gradients are not there yet."""
        self._register("before_step", call)

    def gradients(self, call: Callable[[Any], None]) -> None:
        """`call(optimizer)` when the gradients of a step are there, right before they are used."""
        self._register("gradients", call)

    def after_step(self, call: Callable[[Any], None]) -> None:
        self._register("after_step", call)

    def rate(self, call: Callable[[Any, float], float]) -> None:
        """`call(group, lr) -> lr`: the rate this step is taken with; `group` is a `rate_groups.Group`."""
        self._register("rate", call)

    def before_backward(self, call: Callable[[Any], None]) -> None:
        """`call(losses)`: the tensors backward is called on."""
        self._register("before_backward", call)

    def after_backward(self, call: Callable[[], None]) -> None:
        self._register("after_backward", call)

    def model_call(self, call: Callable[[Any, Any], None]) -> None:
        """`call(given, root)` before an outermost call of a module with parameters; `given` is changed."""
        self._register("model_call", call)

    def after_model_call(self, call: Callable[[Any, Any], Any]) -> None:
        """`call(output, root) -> output`."""
        self._register("after_model_call", call)

    def loss_call(self, call: Callable[[Any], None]) -> None:
        """`call(loss)`: a `losses.LossArguments`, whose input, target and settings may be changed."""
        self._register("loss_call", call)

    def around_model(self, call: Callable[[Any], Any]) -> None:
        """`call(root)` gives a context that an outermost call of a model runs in."""
        self._register("around_model", call)

    def loader_made(self, call: Callable[[dict[str, Any], str], Any]) -> None:
        """`call(kwargs, line)`: what a DataLoader is made with, and the line of the script that does; what
        it returns, if anything, is called with the loader."""
        self._register("loader_made", call)

    def batch(self, call: Callable[[Any, Any, bool], Any]) -> None:
        """`call(batch, source, trains) -> batch`, whenever a DataLoader gives one; `trains`: a backward pass
        is known to follow its batches."""
        self._register("batch", call)

    def function(self, name: str, call: Callable[..., Any]) -> None:
        """`call(original, *args, **kwargs)` instead of a function of torch, by its place in `functions`."""
        self._register(f"function:{name}", call)

    @contextlib.contextmanager
    def aside(self, *, but_functions: bool = False) -> Iterator[None]:
        """What is done with torch in here is not the training's: it passes no joints."""
        training = self.training
        before = training.aside, training.functions_watched
        training.aside, training.functions_watched = True, but_functions
        try:
            yield
        finally:
            training.aside, training.functions_watched = before

    def guarded(self, call: Call) -> Call:
        """An intervention that fails ends the arm with a clear word."""

        @functools.wraps(call)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            try:
                return call(*args, **kwargs)
            except Exception as error:
                if getattr(error, "traindx_script", False):
                    raise
                self._told.broke(error)

        return guarded

    def _register(self, place: str, call: Call) -> None:
        self.training.calls.setdefault(place, []).append(self.guarded(call))
