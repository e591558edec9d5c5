"""The hooks by which a running training is changed.

A change registers here what to do at a hook, which is an event of the bus (`observe/hooks`). Only events
that a change needs are subscribed to: a training without changes runs as it is.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from traindx.experiment.runtime.change import Change, change_specs
from traindx.experiment.runtime.change import change as change
from traindx.experiment.runtime.change_log import ChangeLog
from traindx.experiment.runtime.frames import line_of_script
from traindx.observe.children import trained_elsewhere
from traindx.observe.hooks.bus import CHANGE
from traindx.observe.recorder import Recorder, current, when_started

if TYPE_CHECKING:
    from traindx.experiment.runtime.torch.feeding import Feeding
    from traindx.experiment.runtime.torch.hooks import BackwardHook
    from traindx.experiment.runtime.torch.stepping import StepHook

Call = Callable[..., Any]


class ChangedTraining:
    """The training of this process: its changes, and the events they subscribe to."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self.logs = [ChangeLog(change) for change in changes]
        self.at_end: list[Call] = []
        # Set while a change itself uses torch: what it does there is not the training's.
        self.aside = False
        # Set while functions are passed to changes nevertheless.
        self.functions_watched = False
        self._listens: list[tuple[str, Call, int]] = []
        self._removals: list[Call] = []
        self._installed = self._ended = False

    def install(self) -> None:
        """Subscribe all changes; torch must have been imported."""
        for log in self.logs:
            hooks = Hooks(self, log)
            unit = change_specs()[log.change.id]
            hooks.guarded(unit.apply)(hooks, **log.change.values)
        from traindx.experiment.runtime.torch.hooks import run_as_written
        from traindx.observe.torch.places import listen

        if self._listens:
            self.listen("compile", run_as_written)
            _ = self.backward  # listens, too: what a backward pass computes again is no call of a model
            for listener in self._listens:
                self._removals.append(listen(*listener))
        self._removals.append(listen("step_begins", self._reached))
        self._installed = True

    def _reached(self, *_: Any) -> None:
        """A step has passed the hooks: changes reach this training."""
        recorder = current()
        if recorder is not None:
            recorder.fact("changeable", True)

    def listen(self, event: str, call: Call, order: int = CHANGE) -> None:
        """Subscribe to an event, from the moment on when all changes are installed."""
        self._listens.append((event, call, order))

    @cached_property
    def backward(self) -> BackwardHook:
        from traindx.experiment.runtime.torch.hooks import BackwardHook

        return BackwardHook(self)

    @cached_property
    def steps(self) -> StepHook:
        from traindx.experiment.runtime.torch.stepping import StepHook

        return StepHook(self)

    @cached_property
    def feeding(self) -> Feeding:
        from traindx.experiment.runtime.torch.feeding import Feeding

        return Feeding(self)

    def announce(self) -> None:
        """Record what is to be changed as soon as there is a recording, and at its end what was changed."""
        when_started(self._recorded)

    def _recorded(self, recorder: Recorder) -> None:
        self.write()
        recorder.before_close.append(self.end)

    def end(self) -> None:
        """The training is over: also report the changes that never took place."""
        recorder = current()
        elsewhere = recorder is not None and not recorder.step and trained_elsewhere(recorder.folder)
        if self._ended or elsewhere:
            return
        self._ended = True
        if recorder is not None:
            self._save_keras(recorder)
        if not self._installed:
            for log in self.logs:
                log.otherwise = "this training cannot be changed while it runs"
        for call in self.at_end:
            call()
        for log in self.logs:
            log.end()
        self.write()

    def _save_keras(self, recorder: Recorder) -> None:
        """Saving is the one thing that needs no hook in the training, so that Keras models can be saved."""
        from traindx.experiment.runtime.keras_models import save_models

        for log in self.logs:
            if log.change.id == "save_weights" and "keras" in sys.modules:
                names = save_models(recorder.folder)
                if names:
                    log.changed(f"saved as {', '.join(names)}")

    def write(self) -> None:
        recorder = current()
        if recorder is not None:
            recorder.fact("interventions", [log.to_json() for log in self.logs])

    def undo(self) -> None:
        """Restore everything of torch that was replaced."""
        for remove in reversed(self._removals):
            remove()
        self._removals.clear()


class Hooks:
    """What one change does to the training: the hooks it acts at, and what it reports."""

    def __init__(self, training: ChangedTraining, log: ChangeLog) -> None:
        self.training = training
        self._log = log

    # What it reports.

    def changed(self, text: str) -> None:
        """What was changed, with numbers."""
        count = len(self._log.said)
        self._log.changed(text)
        if len(self._log.said) != count:
            self.training.write()

    def cannot(self, reason: str) -> NoReturn:
        """It cannot be done in this training, which ends here."""
        self._log.cannot(reason)

    def otherwise(self, reason: str) -> None:
        """What to report at the end if nothing has been changed."""
        self._log.otherwise = reason

    @property
    def has_changed(self) -> bool:
        return bool(self._log.said)

    def at_end(self, call: Callable[[], None]) -> None:
        """When the training is over, before changes that changed nothing are reported."""
        self.training.at_end.append(self.guarded(call))

    # Where it acts.

    def optimizer_made(self, call: Callable[[Any, dict[str, Any]], None]) -> None:
        """`call(optimizer, given)`, at the end of its construction; `given` are the script's arguments."""
        self._listen("optimizer_made", call)

    def before_step(self, call: Callable[[Any], None]) -> None:
        """`call(optimizer)`; with a closure, the gradients have not been computed yet."""
        self.training.steps.before.append(self.guarded(call))

    def gradients(self, call: Callable[[Any], None]) -> None:
        """`call(optimizer)` when the gradients of a step are computed, right before they are used."""
        self.training.steps.gradients.append(self.guarded(call))

    def after_step(self, call: Callable[[Any], None]) -> None:
        self.training.steps.after.append(self.guarded(call))

    def rate(self, call: Callable[[Any, float], float]) -> None:
        """`call(group, lr) -> lr`: the rate this step is taken with; `group` is a `rate_groups.Group`."""
        self.training.steps.rates.append(self.guarded(call))

    def before_backward(self, call: Callable[[Any], None]) -> None:
        """`call(losses)`: the tensors backward is called on."""
        self.training.backward.before.append(self.guarded(call))

    def after_backward(self, call: Callable[[], None]) -> None:
        self.training.backward.after.append(self.guarded(call))

    def model_call(self, call: Callable[[Any, Any], None]) -> None:
        """`call(given, root)` before an outermost call of a module with parameters; `given` is changed."""
        self._listen("model_call", lambda model_call: call(model_call, model_call.root))

    def after_model_call(self, call: Callable[[Any, Any], Any]) -> None:
        """`call(output, root) -> output`."""
        self._listen("model_output", call)

    def around_model(self, call: Callable[[Any], Any]) -> None:
        """`call(root)` gives a context that an outermost call of a model runs in."""
        self._listen("model_call", lambda model_call: model_call.contexts.append(call(model_call.root)))

    def loss_call(self, call: Callable[[Any], None]) -> None:
        """`call(loss)`: a `LossArguments`, whose input, target and settings may be changed."""
        self._listen("loss_call", call)

    def loader_made(self, call: Callable[[dict[str, Any], str], Any]) -> None:
        """`call(kwargs, line)`: what a DataLoader is made with, and the line of the script that does; what
        it returns, if anything, is called with the loader."""
        self._listen("loader_made", lambda arguments: call(arguments, line_of_script()))

    def batch(self, call: Callable[[Any, Any, bool], Any]) -> None:
        """`call(batch, source, trains) -> batch`, whenever a DataLoader gives one; `trains`: a backward pass
        is known to follow its batches."""
        self.training.feeding.calls.append(self.guarded(call))

    def function(self, name: str, call: Callable[..., Any]) -> None:
        """`call(original, *args, **kwargs)` instead of a function of torch, by its place in `places`."""
        from traindx.experiment.runtime.torch.hooks import instead

        self.training.listen(f"function:{name}", instead(self.training, self.guarded(call)))

    @contextlib.contextmanager
    def aside(self, *, but_functions: bool = False) -> Iterator[None]:
        """What is done with torch in here is not the training's: it passes no hooks."""
        training = self.training
        saved = training.aside, training.functions_watched
        training.aside, training.functions_watched = True, but_functions
        try:
            yield
        finally:
            training.aside, training.functions_watched = saved

    def guarded(self, call: Call) -> Call:
        """The callback, wrapped so that a change that fails ends the arm with a clear message."""

        @functools.wraps(call)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            try:
                return call(*args, **kwargs)
            except Exception as error:
                if getattr(error, "traindx_script", False):
                    raise
                self._log.broke(error)

        return guarded

    def _listen(self, event: str, call: Call) -> None:
        """Subscribe; what a change does with torch, and what backward recomputes, is left out."""
        training, guarded, value = self.training, self.guarded(call), event == "model_output"
        models = event.startswith("model_")

        def listener(*args: Any) -> Any:
            if training.aside or (models and training.backward.running):
                return args[0] if value else None
            return guarded(*args)

        training.listen(event, listener)
